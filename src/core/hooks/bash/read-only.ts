import { access, readdir, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { lexShell, type ShellWord } from '../../base/shell-lexer.ts'
import { isInside, resolvePath } from '../../policy/paths.ts'
import { READ_ONLY_COMMANDS } from '../../policy/read-only/commands.ts'
import { isHarmlessRepository } from '../../policy/read-only/git-repository.ts'
import type { ReadOnlyForm } from '../../policy/read-only/read-only-form.ts'
import type { ReadOnlyUse } from '../../policy/types.ts'
import { type ClosedPlaces, openClosedPlaces } from '../closed-places.ts'

/** Where a line would run. */
export interface LinePlace {
  /** The working directory, links resolved. */
  cwd: string
  homeDir: string
  /** As openClosedPlaces() takes them. */
  closed: readonly string[]
  /** Folders of programs, as in the environment; undefined when it is not known. */
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
  if (!forms.some(Boolean)) return undefined
  const walk: Walk = {
    ...place,
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
    if (globAt === undefined || /^--[a-z-]+=/.test(text.slice(0, globAt))) continue
    if (!form.paths.includes(text) || form.hasFewPaths) return undefined
    globs.set(text, globAt)
  }
  return { ...form, program, globs }
}

async function judgeForm(form: LineForm, walk: Walk): Promise<ReadOnlyUse | undefined> {
  const readsFolder = form.isRecursive || form.git !== undefined || form.readsFolder
  const names = form.paths.length === 0 && readsFolder ? ['.'] : form.paths
  if (walk.isChanged && names.length > 0) return undefined
  if (await isOwnProgram(form.program, walk)) return undefined
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
      return globAt === undefined ? [name] : await expand(name, globAt, place.folder)
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
    const stats = await stat(path, { bigint: true }).catch(() => undefined)
    if (stats === undefined) return path // the command says that there is none
    if ((isFilesOnly && stats.isDirectory()) || (stats.isFile() && (await places.hasNameIn(stats))))
      return undefined
    return path
  } catch {
    return undefined
  }
}

/**
 * The names that a wildcard in the last part of a path may mean, and more: whatever begins and ends as it does. Undefined
 * for wildcards elsewhere, for very many names, and when one of them would be an option.
 */
async function expand(word: string, globAt: number, folder: string): Promise<string[] | undefined> {
  const slash = word.lastIndexOf('/') + 1
  if (globAt < slash) return undefined
  const [head, begin] = [word.slice(0, slash), word.slice(slash, globAt)]
  const end = /[^*?\]]*$/.exec(word.slice(globAt + 1))![0]
  const names = await readdir(resolve(folder, head)).catch(() => [])
  const some = names.filter(
    (name) => name.startsWith(begin) && name.endsWith(end) && name.startsWith('.') === begin.startsWith('.'),
  )
  if (some.length > MAX_NAMES || (head === '' && some.some((name) => /^[-:(!]/.test(name)))) return undefined
  return [word, ...some.map((name) => head + name)]
}

/** Whether a program of this name is found in the working directory, or where that cannot be known. */
async function isOwnProgram(program: string, { path = '', cwd }: Walk): Promise<boolean> {
  const folders = path.split(delimiter).filter((folder) => !isAbsolute(folder) || isInside(cwd, folder))
  if (path === '' || BUILT_IN.has(program)) return false
  const found = folders.map((folder) =>
    access(join(resolve(cwd, folder), program)).then(
      () => true,
      () => false,
    ),
  )
  return (await Promise.all(found)).some(Boolean)
}

/** They are of the shell itself. */
const BUILT_IN: ReadonlySet<string> = new Set(
  'cd pwd echo printf true false : test [ type command'.split(' '),
)

/** Of different `cd` in one line. */
const MAX_FOLDERS = 8
/** Files that a wildcard may mean. */
const MAX_NAMES = 500
