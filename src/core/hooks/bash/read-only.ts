import type { BigIntStats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { lexShell, type ShellWord } from '../../base/shell-lexer.ts'
import { getErrorCode, isMissing } from '../../base/system-error.ts'
import { toVisible } from '../../base/visible.ts'
import { isInside, isInWorkspace, keepOutermost, resolvePath, type Workspace } from '../../policy/paths.ts'
import { READ_ONLY_COMMANDS } from '../../policy/read-only/commands.ts'
import { CHANGED_BEFORE, Doubt, showText } from '../../policy/read-only/doubt.ts'
import { checkRepository } from '../../policy/read-only/git-repository.ts'
import type { ReadOnlyForm } from '../../policy/read-only/read-only-form.ts'
import type { PolicyAction, ReadOnlyDoubt, ReadOnlyUse } from '../../policy/types.ts'
import { openProtectedPaths, type ProtectedPaths } from '../protected-paths.ts'
import { expandGlob } from './expand-glob.ts'
import { openPrograms, type ProgramOrigin } from './program-origin.ts'

/** The context that a command line runs in. */
export interface LineContext {
  /** The working directory, links resolved. */
  cwd: string
  /** Added directories, links resolved; their files are treated like those of the working directory. */
  roots?: readonly string[]
  homeDir: string
  /** The paths that no tool may read, as openProtectedPaths() takes them. */
  closed: readonly string[]
  /** The PATH of the environment that the line would run in; undefined when it will not be run. */
  path: string | undefined
  /**
   * Returns whether git may take a folder below a repository for another repository; absent when the line
   * will not be run.
   */
  isOldGit?: () => Promise<boolean>
  /** The files that git may read as the configuration of the user. */
  configFiles?: readonly string[]
}

/**
 * The result of analyzing a line, with an entry for each of its simple commands; empty when none of them has
 * a read-only form.
 */
export type LineAnalysis = Pick<Extract<PolicyAction, { kind: 'bash' }>, 'readOnly' | 'doubts'>

/**
 * Determines for each simple command of a line what it reads, if it is known to change nothing, or why a
 * command with a read-only form still needs permission (ADR 0155).
 *
 * Every word that may be a path must lie in the working directory or an added one, links resolved, and must not
 * be protected.
 * After a command that may change something, only commands that name no path qualify, because that command
 * could have put a link there. A `cd` may fail, so the paths after it are checked from both folders.
 */
export async function analyzeLine(line: string, context: LineContext): Promise<LineAnalysis> {
  const lexed = lexShell(line)
  if ('opaque' in lexed) return {}
  const forms = lexed.commands.map(readForm)
  if (!forms.some(Boolean)) return {}
  const results = await judgeForms(forms, context)
  const isReading = results.every((one) => one !== undefined && 'form' in one)
  const readOnly = results.map((one, i) => {
    return one && 'form' in one && (isReading || !forms[i]!.isHardened) ? one : undefined
  })
  const beside = results.map(toDoubt).find(Boolean) ?? NOT_HARDENED
  const doubts = results.map((one, i) => {
    return one && 'form' in one && !readOnly[i] ? { ...beside, alone: one } : toDoubt(one)
  })
  return { readOnly, ...(doubts.some(Boolean) && { doubts }) }
}

async function judgeForms(
  forms: readonly (LineForm | undefined)[],
  context: LineContext,
): Promise<(ReadOnlyUse | ReadOnlyDoubt | undefined)[]> {
  try {
    if (forms.length > MAX_COMMANDS) throw new Doubt(`the line has more than ${MAX_COMMANDS} commands`)
    const { cwd, roots } = context
    const workspace = { workspace: cwd, ...(roots && { roots }) }
    const findOrigin = await openPrograms(context.path, workspace)
    const protectedPaths = await openProtectedPaths(context.closed)
    const walk: Walk = {
      ...{ ...context, workspace, findOrigin, protectedPaths },
      folders: [cwd],
      isChanged: false,
    }
    const results: (ReadOnlyUse | ReadOnlyDoubt | undefined)[] = []
    for (const form of forms) {
      const result = form && (await judgeForm(form, walk).catch(explain))
      if (result === undefined || 'why' in result) walk.isChanged = true
      results.push(result)
    }
    return results
  } catch (reason) {
    const doubt = explain(reason)
    return forms.map((form) => form && doubt)
  }
}

/** Converts an error into a doubt; a file system error means that something cannot be checked. */
function explain(reason: unknown): ReadOnlyDoubt {
  if (reason instanceof Doubt) return { why: reason.message, startsPrograms: reason.startsPrograms }
  if (reason instanceof CrabError) return { why: toVisible(reason.message), startsPrograms: false }
  const cause = CAUSES[getErrorCode(reason)] ?? 'a file cannot be examined'
  return { why: `what it reads cannot be verified: ${cause}`, startsPrograms: false }
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'a file is missing',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENAMETOOLONG: 'a path is too long',
}

function toDoubt(result: ReadOnlyUse | ReadOnlyDoubt | undefined): ReadOnlyDoubt | undefined {
  return result && 'why' in result ? result : undefined
}

/** A form, with the words that contain wildcards. */
type LineForm = ReadOnlyForm & { program: string; globs: ReadonlyMap<string, number> }

/** The state of the analysis before a command of the line. */
interface Walk extends LineContext {
  workspace: Workspace
  /** Determines whether the working directory decides which program runs. */
  findOrigin: Awaited<ReturnType<typeof openPrograms>>
  protectedPaths: ProtectedPaths
  /** The folders that the command may run in. */
  folders: readonly string[]
  /** Whether an earlier command may have changed something. */
  isChanged: boolean
}

function readForm(words: readonly ShellWord[]): LineForm | undefined {
  const [program = '', ...args] = words.map(({ text }) => text)
  const form = READ_ONLY_COMMANDS.get(program)?.(args)
  if (form === undefined) return undefined
  const start = findPaths(form, args)
  const globs = new Map<string, number>()
  for (const [i, { text, globAt }] of words.slice(1).entries()) {
    if (globAt === undefined) continue
    if (i >= start) globs.set(text, globAt)
    else if (!PATTERN_OPTION.test(text.slice(0, globAt))) return undefined
  }
  return { ...form, program, globs }
}

/**
 * Returns the index of the first argument that may contain wildcards: from there on every word is certain to
 * be a path. A word elsewhere may be a program or the value of an option, even if a path is spelled the same.
 */
function findPaths({ paths, hasFewPaths }: ReadOnlyForm, args: readonly string[]): number {
  const start = args.length - paths.length
  const isTail = paths.every((path, i) => path === args[start + i] && !/^-(?!-$)/.test(path))
  return isTail && !hasFewPaths ? start : args.length
}

async function judgeForm(form: LineForm, walk: Walk): Promise<ReadOnlyUse> {
  const readsFolder = form.isRecursive || form.git !== undefined || form.readsFolder
  const names = form.paths.length === 0 && readsFolder ? ['.'] : form.paths
  if (walk.isChanged && names.length > 0) throw new Doubt(CHANGED_BEFORE)
  if (!BUILT_IN.has(form.program)) checkOrigin(form.program, await walk.findOrigin(form.program))
  const found = await Promise.all(
    walk.folders.map((folder) => resolveNames(names, form, { ...walk, folder })),
  )
  const paths = [...new Set(found.flat())]
  const repositories = form.git && (await findRepositories(form.git, walk))
  const trees = repositories?.map((top) => (isInside(walk.cwd, top) ? walk.cwd : top)) ?? paths
  if (
    form.isRecursive &&
    trees.some((tree) => walk.protectedPaths.paths.some((path) => isInside(tree, path)))
  )
    throw new Doubt("the folder it reads contains crabtalk's own files")
  if (form.changesTo !== undefined) changeFolder(form.changesTo, paths, walk)
  return {
    form: form.name,
    paths,
    trees: form.isRecursive ? trees : [],
    ...(repositories && { repositories }),
  }
}

function checkOrigin(program: string, origin: ProgramOrigin): void {
  const why = {
    inside: `PATH finds a ${program} in the working directory`,
    shim: `PATH finds a ${program} that starts the one which a file of the project may name`,
  }
  if (origin === 'inside' || origin === 'shim') throw new Doubt(why[origin], { startsPrograms: true })
}

/** Applies a `cd`. A link is refused: bash would resolve a later `..` by the link's name. */
function changeFolder(name: string, paths: readonly string[], walk: Walk): void {
  const targets = walk.folders.map((folder) => resolve(folder, name))
  if (targets.some((target) => !paths.includes(target)))
    throw new Doubt(`${showText(name)} goes through a symbolic link`)
  if (walk.folders.length > MAX_FOLDERS) throw new Doubt('the line changes the directory too often')
  walk.folders = [...new Set([...walk.folders, ...targets])]
}

/** Returns the repositories that git may read from, without those inside of another. */
async function findRepositories(
  needs: 'history' | 'worktree',
  { folders, workspace, isOldGit, configFiles = [] }: Walk,
): Promise<string[]> {
  const tops = await Promise.all(folders.map((folder) => checkRepository(folder, { workspace, needs })))
  await checkConfigFiles(configFiles, tops)
  if (tops.some((top, i) => top !== folders[i]) && (await isOldGit?.()))
    throw new Doubt('a git before 2.38 may find another repository below the top of this one')
  return keepOutermost(tops)
}

/** Refuses a user configuration that lies in a repository, because the project may have brought it. */
async function checkConfigFiles(files: readonly string[], tops: readonly string[]): Promise<void> {
  for (const file of files) {
    if ((await statIfThere(file)) === undefined) continue
    const folder = await realpath(dirname(file))
    if (!tops.some((top) => isInside(top, folder))) continue
    throw new Doubt(`git reads the configuration of the user from the repository (${showText(file)})`, {
      startsPrograms: true,
    })
  }
}

/** Resolves words to paths, and requires each to be in the working directory or an added one, and not protected. */
async function resolveNames(
  names: readonly string[],
  form: LineForm,
  walk: Walk & { folder: string },
): Promise<string[]> {
  const words = await Promise.all(
    names.map(async (name) => {
      const globAt = form.globs.get(name)
      return globAt === undefined ? [name] : await expandGlob(name, globAt, walk.folder)
    }),
  )
  return await Promise.all(words.flat().map((word) => resolveName(word, form, walk)))
}

async function resolveName(
  name: string,
  { isFilesOnly }: LineForm,
  { folder, workspace, homeDir, protectedPaths }: Walk & { folder: string },
): Promise<string> {
  const shown = showText(name)
  if (/^[\\/]{2}/.test(name)) throw new Doubt(`${shown} may be on another host`)
  const path = await resolvePath(isAbsolute(name) ? name : `${folder}/${name}`, {
    workspace: folder,
    homeDir,
  })
  if (!isInWorkspace(workspace, path))
    throw new Doubt(describeOutside(shown, path, isInWorkspace(workspace, resolve(folder, name))))
  if (protectedPaths.holds(path)) throw new Doubt(`${shown} is a file of crabtalk itself`)
  const stats = await statIfThere(path)
  if (stats === undefined) return path // the command reports a missing file
  if (stats.isDirectory()) {
    if (isFilesOnly) throw new Doubt(`${shown} is a folder`)
    return path
  }
  if (!stats.isFile()) throw new Doubt(`${shown} is a pipe, a socket or a device`) // reading it may never end
  if (await protectedPaths.hasNameIn(stats)) throw new Doubt(`${shown} is a file of crabtalk itself`)
  return path
}

function describeOutside(shown: string, path: string, isLinked: boolean): string {
  const what = isLinked ? `${shown} leads to ${showText(path)}` : shown
  return `${what}${isLinked ? ', which' : ''} is outside the working directory`
}

async function statIfThere(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch (reason) {
    if (isMissing(reason)) return undefined
    throw reason
  }
}

/**
 * Matches an option whose value is a pattern or a text, so that any file name may take the place of a
 * wildcard in it.
 */
const PATTERN_OPTION = /^--(include|exclude|exclude-dir|glob|iglob|ignore|hide|match|grep|author|committer)=/

/** The commands that are built into the shell. */
const BUILT_IN: ReadonlySet<string> = new Set(
  'cd pwd echo printf true false : test [ type command'.split(' '),
)

/** The most `cd` commands in one line. */
const MAX_FOLDERS = 8
/** The most commands in one line, because each may take the memory that runShell() allows one program. */
const MAX_COMMANDS = 32

const NOT_HARDENED: ReadOnlyDoubt = {
  why: 'the line has commands that may do more than read, so its environment could be influenced by a repository',
  startsPrograms: false,
}
