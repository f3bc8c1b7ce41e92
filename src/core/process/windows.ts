import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../base/errors.ts'
import type { Launch, Platform } from './platform.ts'
import { type StartedChild, spawnChild } from './spawn-child.ts'
import type { RunningProcess } from './types.ts'

/**
 * Windows: no groups, no signals, no wrapper. The program is started directly, without a window, and taskkill ends it
 * with what it started and what still hangs together with it; that ends at once, without a chance to say goodbye. What
 * runs when this process is killed is not ended.
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
        hint: 'name the program that it starts, such as node with the path of a script',
      },
    )
  }
  const started = await spawnChild(argv[0], [program, ...argv.slice(1)], {
    cwd,
    env,
    windowsHide: true,
    stdio: [stdin === 'none' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  return direct(started, taskkill, launch.onLetGo)
}

function direct(started: StartedChild, taskkill: string, onLetGo: () => void): RunningProcess {
  const { pid, stdin, stdout, stderr, exited } = started
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
    const killer = await killTree().catch(() => undefined) // without taskkill nothing can be done
    await Promise.race([Promise.all([killer?.exited, exited]), sleep(LAST_MS, undefined, { ref: false })])
    started.settle()
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
      started.drop()
      onLetGo()
    },
    [Symbol.asyncDispose]: end,
  }
}

/** How long taskkill and the program may take to be gone. */
const LAST_MS = 2500
