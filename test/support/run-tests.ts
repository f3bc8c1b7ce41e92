import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { groupFiles, writeGroup } from './group-files.ts'
import { BUNDLES_CRABTALK, ROOT } from './programs.ts'

// npm test [-- --OPTION=VALUE… | FILE…]: all tests from source, or those files, under node:test. Files that do not disturb
// each other share a process: to start it and load the same sources costs more than most tests.
// npm run test:binary [-- …]: all tests of the binary, in groups as well.
const CORES = availableParallelism()
const OPTIONS = ['--test-global-setup=./test/support/bundled.ts', '--test-timeout=120000']
/** The tests of the binary that take longest; they begin first, so that the others run beside them. */
const LONGEST = [
  'help',
  'docs',
  'secrets',
  'crabup-packages',
  'daemon-load',
  'orphans',
  'mcp-resources-prompts',
  'crabup-guard',
].map((name) => `test/binary/${name}.black.ts`)
const folder = mkdtempSync(join(tmpdir(), 'crab-groups-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.exitCode = await runAll(process.argv.slice(2))

async function runAll(words: readonly string[]): Promise<number> {
  const options = words.filter((word) => word.startsWith('-') && word !== '--binary')
  const named = words.filter((word) => !word.startsWith('-'))
  const isBinary = words.includes('--binary')
  const groups = isBinary ? binaryTests(named) : sourceTests(named)
  const paths = groups.map((files, at) => writeGroup(folder, files, at))
  const concurrency = `--test-concurrency=${(isBinary ? 3 : 2) * CORES}` // most tests wait for other processes
  const args = [...process.execArgv, '--test', ...OPTIONS, concurrency, ...options, ...paths]
  const isWhole = !isBinary && named.length === 0
  const env = { ...process.env, ...(isWhole && { [BUNDLES_CRABTALK]: '1' }) }
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' })
  process.on('SIGINT', () => {}) // the terminal signals the child as well
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [code, signal] = await once(child, 'exit')
  for (const [at, files] of groups.entries()) reportKilled(paths[at]!, files)
  return code ?? 128 + constants.signals[signal as NodeJS.Signals]
}

function sourceTests(named: readonly string[]): string[][] {
  return split(named.length > 0 ? named : findFiles('test/**/*.test.ts'))
}

function binaryTests(named: readonly string[]): string[][] {
  const files = named.length > 0 ? named : findFiles('test/**/*.black.ts')
  const longest = LONGEST.filter((file) => files.includes(file)).map((file) => [file])
  return [
    ...longest,
    ...split(
      files.filter((file) => !LONGEST.includes(file)),
      5,
    ),
  ]
}

function split(files: readonly string[], maxFiles?: number): string[][] {
  return groupFiles(files, (file) => readFileSync(join(ROOT, file), 'utf8'), maxFiles).map(
    ({ files }) => files,
  )
}

function findFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).toSorted()
}

/** Names the files of a group whose process was killed: node:test only names the group. */
function reportKilled(path: string, files: readonly string[]): void {
  if (!existsSync(`${path}.begun`) || existsSync(`${path}.ended`)) return
  const list = files.map((file) => `  ${file}\n`).join('')
  process.stderr.write(`The process of ${path} was killed while it ran tests of:\n${list}`)
}
