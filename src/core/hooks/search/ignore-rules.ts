import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'

/**
 * Reads the rules from above a folder: `.ignore` and `.rgignore` of every parent folder, and those of git
 * when it lies in a repository. A rule file that would hide the folder itself is left out, because the caller
 * asked for that folder.
 */
export async function rulesAbove(folder: string): Promise<IgnoreRules> {
  let rules = new IgnoreRules([], undefined)
  for (const dir of foldersAbove(folder)) rules = await rules.enter(dir, await ruleNames(dir))
  return rules
}

/** The rules of a folder and its parents about the paths below it. */
export class IgnoreRules {
  /** The strongest first; all are stronger than those of git. */
  readonly #own: readonly Level[]
  /** The strongest first; undefined outside of a repository. */
  readonly #git: readonly Level[] | undefined

  constructor(own: readonly Level[], git: readonly Level[] | undefined) {
    this.#own = own
    this.#git = git
  }

  /** Whether the rules ignore an absolute path. */
  ignores(path: string, isFolder: boolean): boolean {
    for (const level of [...this.#own, ...(this.#git ?? [])]) {
      const { ignored, unignored } = testPath(level, path, isFolder)
      if (ignored || unignored) return ignored
    }
    return false
  }

  /** Returns the rules for a subfolder; `names` are its entries. */
  async enter(folder: string, names: ReadonlySet<string>): Promise<IgnoreRules> {
    const hides = (level: Level) => testPath(level, folder, true).ignored
    const inherited = names.has('.git') ? [] : this.#git?.filter((level) => !hides(level))
    const own = this.#own.filter((level) => !hides(level))
    const read = (...files: string[]) =>
      readLevel(
        folder,
        files.filter((file) => names.has(file.split('/')[0]!)),
      )
    const git = inherited && [
      ...(await read('.gitignore')),
      ...inherited,
      ...(await read('.git/info/exclude')),
    ]
    return new IgnoreRules([...(await read('.ignore', '.rgignore')), ...own], git)
  }
}

/** The rules of some files, about paths below the folder that contains the files. */
interface Level {
  folder: string
  matcher: Ignore
}

function testPath({ folder, matcher }: Level, path: string, isFolder: boolean) {
  const way = relative(folder, path).replaceAll(sep, '/')
  return matcher.test(isFolder ? `${way}/` : way)
}

/** Lists the parents of a folder, from the root down. */
function foldersAbove(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [] : [...foldersAbove(parent), parent]
}

async function ruleNames(folder: string): Promise<Set<string>> {
  const names = ['.git', '.gitignore', '.ignore', '.rgignore']
  const there = await Promise.all(names.map((name) => stat(join(folder, name)).then(Boolean, () => false)))
  return new Set(names.filter((_, index) => there[index]))
}

/** Combines the rules of these files, the last one strongest; returns nothing when they are empty. */
async function readLevel(folder: string, files: readonly string[]): Promise<Level[]> {
  const texts = await Promise.all(files.map((file) => readRules(join(folder, file))))
  const text = texts.join('\n')
  return text.trim() === '' ? [] : [{ folder, matcher: ignore({ ignorecase: false }).add(text) }]
}

const MAX_RULES_BYTES = 1024 * 1024

/** Reads a rule file; an unreadable one counts as empty. */
async function readRules(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a FIFO must not block
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_RULES_BYTES), 0, MAX_RULES_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  }
}
