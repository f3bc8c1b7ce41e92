import { setTimeout as sleep } from 'node:timers/promises'
import { OWNER_TAG } from './owner-tag.ts'
import type { Launch } from './platform.ts'
import { sendSignal } from './signals.ts'
import { type Pipe, type StartedChild, spawnChild, startError } from './spawn-child.ts'
import type { RunningProcess } from './types.ts'
import { ADDED_BY_SHELLS, watcherScript, wrapperScript } from './wrapper.ts'

/** A process group to look up. */
export interface Group {
  /** The pid of the program that leads the group. */
  pid: number
  watcher: number
  ownerTag: string
}

interface GuardedOptions {
  shell: string
  /** The part of the watcher's script that lists processes. */
  list: string
  /** Lists the running processes of a group, without its watcher. */
  membersOf: (group: Group) => Promise<number[]>
}

/**
 * Starts a program through the wrapper, in its own session and group, and waits until its watcher runs. The
 * child of this process is the program itself, so its exit is seen immediately even if others still hold its
 * pipes.
 */
export async function startGuarded(
  launch: Launch,
  { shell, list, membersOf }: GuardedOptions,
): Promise<RunningProcess> {
  const { argv, cwd, env, ownerTag } = launch
  const [input, errors] = [launch.stdin === 'none' ? 'ignore' : 'pipe', launch.stderr ?? 'pipe'] as const
  const script = wrapperScript({
    unset: ADDED_BY_SHELLS.filter((name) => env[name] === undefined),
    mergesErrors: errors === 'stdout',
  })
  const wrapper = ['-c', script, 'crabtalk', shell, watcherScript(list), `${OWNER_TAG}=${ownerTag}`]
  const child = await spawnChild(argv[0], [shell, ...wrapper, launch.program, ...argv.slice(1)], {
    cwd,
    env,
    detached: true,
    stdio: [input, 'pipe', errors === 'stdout' ? 'ignore' : 'pipe', 'pipe'],
  })
  const control = child.control!
  const reports = readReports(control)
  const watcher = await reports.watcher
  if (watcher === undefined) {
    sendSignal(-child.pid, 'SIGKILL')
    child.drop()
    throw startError(argv[0], 'EAGAIN')
  }
  const members = () => membersOf({ pid: child.pid, watcher, ownerTag })
  return toRunningProcess({ ...child, control, reports, members, onLetGo: launch.onLetGo })
}

/**
 * The messages on the control pipe: the watcher's pid first, and finally whether it has seen that no process
 * is left.
 */
interface Reports {
  /**
   * The watcher's pid; undefined when the wrapper could not start a watcher, and so did not start the
   * program.
   */
  watcher: Promise<number | undefined>
  isDone(): boolean
}

function readReports(control: Pipe): Reports {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  let text = ''
  control.on('data', (piece) => {
    text += piece
    if (text.includes('\n')) resolve(Number.parseInt(text, 10))
  })
  control.once('close', () => resolve(undefined))
  return { watcher: promise, isDone: () => text.endsWith('done\n') }
}

interface GuardedParts extends StartedChild {
  control: Pipe
  reports: Reports
  members: () => Promise<number[]>
  onLetGo: () => void
}

/**
 * Returns a program with a watcher in its group. The watcher ends the group when the control pipe closes, and
 * itself last, which closes the other end of the pipe. While the watcher lives, the system cannot reuse the
 * group's id.
 */
function toRunningProcess(parts: GuardedParts): RunningProcess {
  const { pid, stdin, stdout, stderr, exited, control, reports, members, onLetGo } = parts
  const unguarded = whenClosed(control)
  let ending: Promise<void> | undefined
  // A killed watcher cannot end the group when this process dies, so the group is killed with it.
  void unguarded.then(() => ending ?? sendSignal(-pid, 'SIGKILL'))

  async function endGroup(): Promise<void> {
    control.end()
    const backstop = setTimeout(() => sendSignal(-pid, 'SIGKILL'), BACKSTOP_MS) // the watcher may be stopped
    await unguarded
    clearTimeout(backstop)
    const allExited = reports.isDone() ? exited : killAll(members) // a killed watcher has reported nothing
    await Promise.race([allExited, sleep(LAST_MS, undefined, { ref: false })])
    parts.settle()
    onLetGo()
  }
  const end = () => {
    ending ??= endGroup()
    return ending
  }
  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    members,
    end,
    release() {
      ending ??= Promise.resolve()
      control.destroy()
      parts.drop()
      onLetGo()
    },
    [Symbol.asyncDispose]: end,
  }
}

/**
 * Kills the remaining members of a group, which include processes that left it and did not get its signals,
 * until there are none.
 */
async function killAll(members: () => Promise<number[]>): Promise<void> {
  for (let napMs = 2; ; napMs *= 2) {
    const remaining = await members().catch(() => [])
    if (remaining.length === 0) return
    for (const pid of remaining) sendSignal(pid, 'SIGKILL')
    await sleep(napMs, undefined, { ref: false })
  }
}

/** Resolves when a pipe is closed, for any reason. */
function whenClosed(pipe: Pipe): Promise<void> {
  return new Promise((resolve) => {
    if (pipe.closed) resolve()
    else pipe.once('close', resolve)
  })
}

/** The time after which the group is killed. It is more than the watcher needs: TERM, two seconds, KILL. */
const BACKSTOP_MS = 3000
/** The time limit for killed processes to disappear, in case the system does not release one. */
const LAST_MS = 2500
