import { randomUUID } from 'node:crypto'
import { accessSync, constants, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linuxPlatform } from '../../src/core/process/linux.ts'
import { posixPlatform } from '../../src/core/process/own-platform.ts'
import type { Platform } from '../../src/core/process/platform.ts'
import { openProcessHost } from '../../src/core/process/process-host.ts'
import type { ProcessCommand, ProcessHost, RunningProcess } from '../../src/core/process/types.ts'

/** A platform that this machine can run. */
export interface TestPlatform {
  name: string
  platform: Platform
}

/** The POSIX platforms, one for each shell of this machine that serves as /bin/sh on some system. */
export function posixPlatforms(): TestPlatform[] {
  const shells = ['/bin/dash', '/bin/bash', '/bin/busybox'].filter(isProgram).map((path) => ({
    name: `Linux behind ${path}`,
    platform: linuxPlatform({ shell: asShell(path) }),
  }))
  return [...shells, { name: 'POSIX', platform: posixPlatform() }]
}

/** Opens a process host in this process. */
export function openTestHost(platform?: Platform): ProcessHost {
  return openProcessHost({ pid: process.pid, ...(platform && { platform }) })
}

/** Builds a command in the temporary folder, with little more than PATH in its environment. */
export function makeCommand(
  argv: ProcessCommand['argv'],
  more: Partial<ProcessCommand> = {},
): ProcessCommand {
  return { argv, cwd: tmpdir(), env: { PATH: '/usr/bin:/bin' }, ...more }
}

/** Builds a command that runs a script of /bin/sh. */
export function makeScript(script: string, more: Partial<ProcessCommand> = {}): ProcessCommand {
  return makeCommand(['/bin/sh', '-c', script], more)
}

/**
 * Builds a script like makeScript(), with a word in the environment that identifies its processes (orphans.ts).
 */
export function markedScript(script: string): { word: string; command: ProcessCommand } {
  const word = randomUUID()
  return { word, command: makeScript(script, { env: { PATH: '/usr/bin:/bin', TEST_WORD: word } }) }
}

/** Reads everything that a program writes to standard output, until every holder has closed it. */
export async function readAllText(stream: RunningProcess['stdout']): Promise<string> {
  return (await stream.toArray()).join('')
}

/** Reads the first line that a program writes; the rest can be read later. */
export async function readFirstLine({ stdout }: RunningProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  const onData = (piece: Buffer) => {
    text += piece
    if (!text.includes('\n')) return
    stdout.off('data', onData)
    resolve(text.slice(0, text.indexOf('\n')))
  }
  stdout.on('data', onData)
  return await promise
}

/** Links a shell as `sh`, because a shell chooses its behavior by the name it is started with. */
function asShell(path: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'crab-sh-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  symlinkSync(path, join(folder, 'sh'))
  return join(folder, 'sh')
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
