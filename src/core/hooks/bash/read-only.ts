import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { lexShell, type ShellWord } from '../../base/shell-lexer.ts'
import { isInside, resolvePath } from '../../policy/paths.ts'
import { READ_ONLY_COMMANDS } from '../../policy/read-only/commands.ts'
import { isHarmlessRepository } from '../../policy/read-only/git-repository.ts'
import type { ReadOnlyForm } from '../../policy/read-only/read-only-form.ts'
import type { ReadOnlyUse } from '../../policy/types.ts'
import { type ClosedPlaces, openClosedPlaces } from '../closed-places.ts'
import { expandGlob } from './expand-glob.ts'
import { isMissing, openPrograms } from './own-programs.ts'

/** Where a line would run. */
export interface LinePlace {
  /** The working directory, links resolved. */
  cwd: string
  homeDir: string
  /** As openClosedPlaces() takes them. */
  closed: readonly string[]
  /** Folders of programs, as in the environment that the line would run in; undefined when it will not be run. */
  path: string | undefined
}

/**
 * Says of each simple command of a line what it reads, or undefined where it is not known to change nothing; undefined for
 * the whole line when that holds for all.
 *
 * Every word that may be a path lies in the working directory, links resolved, and is not closed. After a command that may
 * change something only commands that name no path count: that one could have put a link there. A `cd` may have failed, so
 * paths behind it are looked at from both folders.
 */
export async function readOnlyUses(
  line: string,
  place: LinePlace,
): Promise<readonly (ReadOnlyUse | undefined)[] | undefined> {
  const lexed = lexShell(line)
  if ('opaque' in lexed) return undefined
  const forms = lexed.commands.map(readForm)
  const originOf = forms.some(Boolean) ? await openPrograms(place.path, place.cwd) : undefined
  if (originOf === undefined) return undefined
  const walk: Walk = {
    ...place,
    originOf,
    places: await openClosedPlaces(place.closed),
    folders: [place.cwd],
    isChanged: false,
  }
  const uses: (ReadOnlyUse | undefined)[] = []
  for (const form of forms) {
    const use = form && (await judgeForm(form, walk))
    if (use === undefined) walk.isChanged = true
    uses.push(use)
  }
  if (uses.every(Boolean)) return uses
  return uses.map((use, i) => (forms[i]?.isHardened ? undefined : use)) // it would run in an environment that is not hardened
}

/** A form with the words that hold wildcards. */
type LineForm = ReadOnlyForm & { program: string; globs: ReadonlyMap<string, number> }

/** What is known when a command of a line is reached. */
interface Walk extends LinePlace {
  /** Says whether the working directory decides which program runs. */
  originOf: NonNullable<Awaited<ReturnType<typeof openPrograms>>>
  places: ClosedPlaces
  /** Where it may run. */
  folders: readonly string[]
  /** Whether a command before it may have changed something. */
  isChanged: boolean
}

function readForm(words: readonly ShellWord[]): LineForm | undefined {
  const [program = '', ...args] = words.map(({ text }) => text)
  const form = READ_ONLY_COMMANDS.get(program)?.(args)
  if (form === undefined) return undefined
  const globs = new Map<string, number>()
  for (const { text, globAt } of program === '[' ? words.slice(1) : words) {
    if (globAt === undefined) continue
    if (form.paths.includes(text) && !form.hasFewPaths) globs.set(text, globAt)
    else if (!/^--[a-z-]+=/.test(text.slice(0, globAt))) return undefined
  }
  return { ...form, program, globs }
}

async function judgeForm(form: LineForm, walk: Walk): Promise<ReadOnlyUse | undefined> {
  const readsFolder = form.isRecursive || form.git !== undefined || form.readsFolder
  const names = form.paths.length === 0 && readsFolder ? ['.'] : form.paths
  if (walk.isChanged && names.length > 0) return undefined
  if (!BUILT_IN.has(form.program) && (await walk.originOf(form.program)) === 'inside') return undefined
  const found = await Promise.all(
    walk.folders.map((folder) => resolveNames(names, form, { ...walk, folder })),
  )
  if (!found.every((paths) => paths !== undefined)) return undefined
  const paths = [...new Set(found.flat())]
  if (form.git !== undefined && !(await areHarmless(form.git, walk))) return undefined
  const trees = form.git !== undefined ? [walk.cwd] : paths
  if (form.isRecursive && trees.some((tree) => walk.places.places.some((place) => isInside(tree, place)))) {
    return undefined
  }
  if (form.changesTo !== undefined) {
    // by its name bash goes back from a folder that is reached by a link
    const targets = walk.folders.map((folder) => resolve(folder, form.changesTo!))
    if (targets.some((target) => !paths.includes(target)) || walk.folders.length > MAX_FOLDERS)
      return undefined
    walk.folders = [...new Set([...walk.folders, ...targets])]
  }
  return { form: form.name, paths, trees: form.isRecursive ? trees : [] }
}

async function areHarmless(needs: 'history' | 'worktree', { folders, cwd }: Walk): Promise<boolean> {
  const answers = folders.map((folder) => isHarmlessRepository(folder, { workspace: cwd, needs }))
  return (await Promise.all(answers)).every(Boolean)
}

/** The paths that words mean, or undefined when one of them may be outside, or closed. */
async function resolveNames(
  names: readonly string[],
  form: LineForm,
  place: Walk & { folder: string },
): Promise<string[] | undefined> {
  const words = await Promise.all(
    names.map(async (name) => {
      const globAt = form.globs.get(name)
      return globAt === undefined ? [name] : await expandGlob(name, globAt, place.folder)
    }),
  )
  if (!words.every((some) => some !== undefined)) return undefined
  const paths = await Promise.all(words.flat().map((word) => resolveName(word, form, place)))
  return paths.every((path) => path !== undefined) ? paths : undefined
}

async function resolveName(
  name: string,
  { isFilesOnly }: LineForm,
  { folder, cwd, homeDir, places }: Walk & { folder: string },
): Promise<string | undefined> {
  try {
    const path = await resolvePath(isAbsolute(name) ? name : `${folder}/${name}`, {
      workspace: folder,
      homeDir,
    })
    if (!isInside(cwd, path) || places.holds(path)) return undefined
    const stats = await statIfThere(path)
    if (stats === undefined) return path // the command says that there is none
    if (stats.isDirectory()) return isFilesOnly ? undefined : path
    return stats.isFile() && !(await places.hasNameIn(stats)) ? path : undefined // a pipe would not end
  } catch {
    return undefined
  }
}

async function statIfThere(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch (reason) {
    if (isMissing(reason)) return undefined
    throw reason
  }
}

/** They are of the shell itself. */
const BUILT_IN: ReadonlySet<string> = new Set(
  'cd pwd echo printf true false : test [ type command'.split(' '),
)

/** Of different `cd` in one line. */
const MAX_FOLDERS = 8
