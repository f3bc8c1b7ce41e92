import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../base/errors.ts'
import type { Launch, Platform } from './platform.ts'
import { type StartedChild, spawnChild } from './spawn-child.ts'
import type { RunningProcess } from './types.ts'

/**
 * The Windows platform, without groups, signals or a wrapper. The program is started directly, without a
 * window. taskkill ends it and its process tree immediately, without a chance to clean up. Programs still
 * running when this process is killed are not ended.
 */
export function windowsPlatform({ taskkill = 'C:\\Windows\\System32\\taskkill.exe' } = {}): Platform {
  return {
    identify: async (pid) => `0.${pid}.0.`,
    start: (launch) => startDirect(launch, taskkill),
    sweep: async () => {},
  }
}

async function startDirect(launch: Launch, taskkill: string): Promise<RunningProcess> {
  const { argv, program, cwd, env, stdin } = launch
  if (/\.(bat|cmd)$/i.test(program)) {
    throw new CrabError(
      'failed',
      `Cannot start ${argv[0]}: ${program} is a script that only a shell can run`,
      {
        hint: `use the command cmd with the arguments /c and ${argv[0]}, or the program that it starts, such as node with the path of a script`,
      },
    )
  }
  const child = await spawnChild(argv[0], [program, ...argv.slice(1)], {
    cwd,
    env,
    windowsHide: true,
    stdio: [stdin === 'none' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  return toRunningProcess(child, taskkill, launch.onLetGo)
}

function toRunningProcess(child: StartedChild, taskkill: string, onLetGo: () => void): RunningProcess {
  const { pid, stdin, stdout, stderr, exited } = child
  let hasExited = false
  void exited.then(() => {
    hasExited = true // another process may have its id now
  })
  const killTree = async () => {
    if (hasExited) return undefined
    const command = [taskkill, '/T', '/F', '/PID', String(pid)] as const
    return await spawnChild('taskkill', command, { windowsHide: true, stdio: 'ignore' })
  }
  async function endTree(): Promise<void> {
    const killer = await killTree().catch(() => undefined) // nothing can be done without taskkill
    await Promise.race([Promise.all([killer?.exited, exited]), sleep(LAST_MS, undefined, { ref: false })])
    child.settle()
    onLetGo()
  }
  let ending: Promise<void> | undefined
  const end = () => {
    ending ??= endTree()
    return ending
  }
  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    members: async () => [],
    end,
    release() {
      ending ??= killTree().then(
        (killer) => killer?.drop(),
        () => undefined,
      )
      child.drop()
      onLetGo()
    },
    [Symbol.asyncDispose]: end,
  }
}

/** The time limit for taskkill and the program to exit. */
const LAST_MS = 2500
