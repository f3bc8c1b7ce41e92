import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { groupFiles, writeGroup } from './group-files.ts'
import { ROOT } from './programs.ts'

// npm test [-- --OPTION=VALUE… | FILE…]: all tests from source, or those files, under node:test. Files that do nothing to
// their process share one with their neighbours: to start it and load the same sources costs more than most tests.
const OPTIONS = [
  '--test-global-setup=./test/support/bundled.ts',
  '--test-concurrency=6',
  '--test-timeout=120000',
]
const folder = mkdtempSync(join(tmpdir(), 'crab-groups-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.exitCode = await runAll(process.argv.slice(2))

async function runAll(words: readonly string[]): Promise<number> {
  const options = words.filter((word) => word.startsWith('-'))
  const named = words.filter((word) => !word.startsWith('-'))
  const files = named.length > 0 ? named : globSync('test/**/*.test.ts', { cwd: ROOT }).toSorted()
  const { alone, groups } = groupFiles(files, (file) => readFileSync(join(ROOT, file), 'utf8'))
  const all = [...groups.map((group) => writeGroup(folder, group)), ...alone]
  const args = [...process.execArgv, '--test', ...OPTIONS, ...options, ...all]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  process.on('SIGINT', () => {}) // the terminal signals the child as well
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [code, signal] = await once(child, 'exit')
  return code ?? 128 + constants.signals[signal as NodeJS.Signals]
}
