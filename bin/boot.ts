import { writeFileSync, writeSync } from 'node:fs'
import { getRawAsset } from 'node:sea'
import { chunkLoader } from './chunks.ts'
import { openPack } from './pack.ts'
import { programName, versionLine } from './program.ts'

declare const require: (id: string) => unknown

// The binary's main script. Every start pays for it, so it answers the version by itself, before anything else is
// read, and leaves all the rest to the pack.
boot(isAsCrabup() ? 'crabup' : programName(process.argv0, process.argv.slice(2)))

/** For the script that is crabup on Windows, which cannot choose the name it starts a program by. */
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

/** Whether that worked; a pipe that is full or has lost its reader is for the commands to deal with. */
function print(line: string): boolean {
  try {
    return writeSync(1, line) === line.length
  } catch {
    return false
  }
}

/** For ps, top and killall on Linux, where Node calls its main thread `node-MainThread`; the arguments stay as they are. */
function nameProcess(name: string): void {
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/comm', name)
  } catch {
    // no /proc here: then nobody lists processes either
  }
}

/** For the build, which must notice when code caches do not fit the Node they are shipped with. */
function reportRejection(
  id: string,
  { cachedDataRejected }: { cachedDataRejected?: boolean | undefined },
): void {
  if (cachedDataRejected && process.env['CRABTALK_DEBUG'] === 'cache') {
    writeSync(2, `crabtalk: code cache rejected: ${id}\n`)
  }
}
