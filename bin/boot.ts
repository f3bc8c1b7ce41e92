import { writeFileSync, writeSync } from 'node:fs'
import { getRawAsset } from 'node:sea'
import { chunkLoader } from './chunks.ts'
import { openPack } from './pack.ts'
import { programName, versionLine } from './program.ts'

declare const require: (id: string) => unknown

// The binary's main script. Every start pays for it, so it answers `--version` by itself, before anything
// else is read, and leaves the rest to the pack.
boot(isAsCrabup() ? 'crabup' : programName(process.argv0, process.argv.slice(2)))

/**
 * Handles the option that the crabup script on Windows passes, because it cannot choose the name under which
 * it starts a program.
 */
function isAsCrabup(): boolean {
  if (process.argv[2] !== '--as-crabup') return false
  process.argv.splice(2, 1)
  return true
}

function boot(name: string): void {
  const line = versionLine(name, process.argv.slice(2))
  if (line !== undefined && print(line)) return
  nameProcess(name)
  const pack = openPack(getRawAsset('pack') as ArrayBuffer)
  const load = chunkLoader({ ...pack, compiled: reportRejection }, require)
  const { run } = load('./run.js') as typeof import('./run.ts')
  void run(name).then((code) => {
    process.exitCode = code
  })
}

/** Returns whether the line was written; commands handle a pipe that is full or closed. */
function print(line: string): boolean {
  try {
    return writeSync(1, line) === line.length
  } catch {
    return false
  }
}

/**
 * Names the process for ps, top and killall on Linux, where Node calls its main thread `node-MainThread`; the
 * arguments stay unchanged.
 */
function nameProcess(name: string): void {
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/comm', name)
  } catch {
    // without /proc, tools cannot list processes either
  }
}

/**
 * Reports rejected code caches to the build, which must notice when they do not match the Node they ship
 * with.
 */
function reportRejection(
  id: string,
  { cachedDataRejected }: { cachedDataRejected?: boolean | undefined },
): void {
  if (cachedDataRejected && process.env['CRABTALK_DEBUG'] === 'cache') {
    writeSync(2, `crabtalk: code cache rejected: ${id}\n`)
  }
}
