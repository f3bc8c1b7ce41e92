import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './programs.ts'

const AT_MOST = 8
/**
 * Matches the text of a test file that changes or inspects its process, or that runs hooks around tests other
 * than its own.
 */
const OWN_PROCESS =
  /\bprocess\.|child_process|worker_threads|node-pty|globalThis|\bmock\b|(before|after)(Each)?\(/

/**
 * Splits test files into those that need a process of their own and groups that may share one; paths stay in
 * order.
 */
export function groupFiles(
  files: readonly string[],
  read: (file: string) => string,
): { alone: string[]; groups: string[][] } {
  const alone = files.filter((file) => OWN_PROCESS.test(read(file)))
  const others = files.filter((file) => !alone.includes(file))
  const groups = Array.from({ length: Math.ceil(others.length / AT_MOST) }, (_, at) =>
    others.slice(at * AT_MOST, (at + 1) * AT_MOST),
  )
  return { alone, groups }
}

/** Writes a test file that runs those of a group, named after the first of them; returns its path. */
export function writeGroup(folder: string, files: readonly string[]): string {
  const [first = ''] = files
  const path = join(folder, `${first.replaceAll('/', '-').replace(/\.test\.ts$/, '')}-and-more.test.mjs`)
  writeFileSync(path, files.map((file) => `import ${JSON.stringify(resolve(ROOT, file))}\n`).join(''))
  return path
}
