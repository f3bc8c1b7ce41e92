import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './programs.ts'

/**
 * Matches the text of a test file that changes its process, looks at all of it, or runs hooks around the tests
 * of other files.
 */
const OWN_PROCESS = new RegExp(
  [
    String.raw`process\.env\[[^\]]+\] (\?\?)?= |delete process\.env`,
    String.raw`process\.(chdir|umask|on|once|memoryUsage)\(|process\.exitCode = |process\.kill\(process\.pid`,
    String.raw`mock\.(timers|method|module)|registerHooks|globalThis\.\w+ = `,
    String.raw`^(before|beforeEach|afterEach)\(|readdir(Sync)?\('/proc/self`,
  ].join('|'),
  'm',
)
/** Matches the text of a test file that starts programs, which take longer than its length tells. */
const STARTS_PROGRAMS = /child_process|support\/(mcp\/|daemon|process-platforms|programs)|supervis/
/** The size of a test file that takes as long as the programs that such a file starts, in bytes. */
const PROGRAMS_BYTES = 30_000

/** Test files that run in one process. */
export interface TestGroup {
  files: string[]
  /** The estimated duration, in bytes of test files. */
  weight: number
}

/**
 * Splits test files into processes, the longest first: files that disturb others are alone, and neighbors,
 * which load the same sources, share one, at most `maxFiles` of them.
 */
export function groupFiles(
  files: readonly string[],
  read: (file: string) => string,
  maxFiles = 24,
): TestGroup[] {
  const weighed = files.map((file) => {
    const text = read(file)
    const weight = text.length + (STARTS_PROGRAMS.test(text) ? PROGRAMS_BYTES : 0)
    return { file, weight, isAlone: OWN_PROCESS.test(text) }
  })
  const shared = weighed.filter(({ isAlone }) => !isAlone)
  const count = Math.ceil(shared.length / maxFiles)
  const most = shared.reduce((sum, { weight }) => sum + weight, 0) / count
  const groups = weighed
    .filter(({ isAlone }) => isAlone)
    .map(({ file, weight }): TestGroup => ({ files: [file], weight }))
  let group: TestGroup = { files: [], weight: 0 }
  for (const { file, weight } of shared) {
    if (group.files.length >= maxFiles || group.weight + weight / 2 > most) {
      groups.push(group)
      group = { files: [], weight: 0 }
    }
    group.files.push(file)
    group.weight += weight
  }
  if (group.files.length > 0) groups.push(group)
  return groups.toSorted((a, b) => b.weight - a.weight)
}

/**
 * Writes a test file that runs the files of a group and returns its path. Its name starts with its position in
 * the order of groups, because node:test runs files by name.
 */
export function writeGroup(folder: string, files: readonly string[], at: number): string {
  const [first = ''] = files
  const name = first.replaceAll('/', '-').replace(/\.\w+\.ts$/, '')
  const more = files.length > 1 ? `-and-${files.length - 1}-more` : ''
  const path = join(folder, `${String(at).padStart(3, '0')}-${name}${more}.test.mjs`)
  const imports = [join(import.meta.dirname, 'group-notes.ts'), ...files.map((file) => resolve(ROOT, file))]
  writeFileSync(path, imports.map((file) => `import ${JSON.stringify(file)}\n`).join(''))
  return path
}
