import { setTimeout as sleep } from 'node:timers/promises'
import { OWNER_TAG } from './owner-tag.ts'
import type { Launch } from './platform.ts'
import { sendSignal } from './signals.ts'
import { type Pipe, type StartedChild, spawnChild, startError } from './spawn-child.ts'
import type { RunningProcess } from './types.ts'
import { ADDED_BY_SHELLS, watcherScript, wrapperScript } from './wrapper.ts'

/** A group of processes as it is looked for. */
export interface Group {
  /** Of the program that leads it. */
  pid: number
  watcher: number
  mark: string
}

interface GuardedOptions {
  shell: string
  /** How the watcher lists processes: a part of its script. */
  list: string
  /** What runs of a group, without its watcher. */
  membersOf: (group: Group) => Promise<number[]>
}

/**
 * Starts a program behind the wrapper, in a session and group of its own, and waits until its watcher runs. The child of
 * this process is the program itself: its end is seen at once, whoever still holds its pipes.
 */
export async function startGuarded(
  launch: Launch,
  { shell, list, membersOf }: GuardedOptions,
): Promise<RunningProcess> {
  const { argv, cwd, env, mark } = launch
  const [input, errors] = [launch.stdin === 'none' ? 'ignore' : 'pipe', launch.stderr ?? 'pipe'] as const
  const script = wrapperScript({
    unset: ADDED_BY_SHELLS.filter((name) => env[name] === undefined),
    mergesErrors: errors === 'stdout',
  })
  const wrapper = ['-c', script, 'crabtalk', shell, watcherScript(list), `${OWNER_TAG}=${mark}`]
  const started = await spawnChild(argv[0], [shell, ...wrapper, launch.program, ...argv.slice(1)], {
    cwd,
    env,
    detached: true,
    stdio: [input, 'pipe', errors === 'stdout' ? 'ignore' : 'pipe', 'pipe'],
  })
  const control = started.control!
  const reports = readReports(control)
  const watcher = await reports.watcher
  if (watcher === undefined) {
    sendSignal(-started.pid, 'SIGKILL')
    started.drop()
    throw startError(argv[0], 'EAGAIN')
  }
  const members = () => membersOf({ pid: started.pid, watcher, mark })
  return toRunningProcess({ ...started, control, reports, members, onLetGo: launch.onLetGo })
}

/** What comes on the control pipe: the pid of the watcher, and at its end whether it has seen that nobody is left. */
interface Reports {
  /** Undefined when the wrapper could not start a watcher, and so did not start the program. */
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
 * A program with a watcher in its group. The watcher ends the group when the control pipe ends, and itself last, which
 * this side sees as the end of the control pipe. While it lives, the group's id is nobody else's.
 */
function toRunningProcess(parts: GuardedParts): RunningProcess {
  const { pid, stdin, stdout, stderr, exited, control, reports, members, onLetGo } = parts
  const unguarded = whenClosed(control)
  let ending: Promise<void> | undefined
  // Whoever kills a watcher ends its group: nothing else would when this process dies.
  void unguarded.then(() => ending ?? sendSignal(-pid, 'SIGKILL'))

  async function endGroup(): Promise<void> {
    control.end()
    const backstop = setTimeout(() => sendSignal(-pid, 'SIGKILL'), BACKSTOP_MS) // the watcher may be stopped
    await unguarded
    clearTimeout(backstop)
    const gone = reports.isDone() ? exited : killAll(members) // a watcher that was killed has seen nothing
    await Promise.race([gone, sleep(LAST_MS, undefined, { ref: false })])
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

/** Kills what is left of a group, which those who left it did not feel, until it has no members any more. */
async function killAll(members: () => Promise<number[]>): Promise<void> {
  for (let napMs = 2; ; napMs *= 2) {
    const left = await members().catch(() => [])
    if (left.length === 0) return
    for (const pid of left) sendSignal(pid, 'SIGKILL')
    await sleep(napMs, undefined, { ref: false })
  }
}

/** Resolves when a pipe has no end left, for whatever reason. */
function whenClosed(pipe: Pipe): Promise<void> {
  return new Promise((resolve) => {
    if (pipe.closed) resolve()
    else pipe.once('close', resolve)
  })
}

/** More than the watcher needs: TERM, two seconds, KILL. */
const BACKSTOP_MS = 3000
/** How long a killed program may take to be gone, when the system does not let go of it. */
const LAST_MS = 2500
