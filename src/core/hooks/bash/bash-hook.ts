import { CrabError } from '../../base/errors.ts'
import type { Action } from '../../policy/types.ts'
import { type CommandResult, runCommand } from '../../process/run-command.ts'
import type { ProcessHost, RunningProcess } from '../../process/types.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import { outputCleaner } from './clean-output.ts'
import { commandEnv } from './environment.ts'

const DEFAULT_SECONDS = 120
const MAX_SECONDS = 600
/** Linux takes 128 KiB as one argument. */
const MAX_COMMAND_BYTES = 120_000

const SPEC: ToolSpec = {
  name: 'bash',
  description: 'Run a shell command; cd does not last',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string' },
      timeout: {
        type: 'integer',
        description: `seconds, default ${DEFAULT_SECONDS}, at most ${MAX_SECONDS}`,
      },
    },
    required: ['command'],
  },
}

/**
 * The tool `bash`: one command line, run by bash, or by sh where there is no bash, in the working directory of the turn.
 *
 * Nobody answers it: its standard input is empty. What it leaves running ends with the turn.
 */
export function bashHook({ processes }: { processes: ProcessHost }): Hook {
  return {
    schema: () => [SPEC],
    describe: (name, { args }) => (name === SPEC.name ? describe(args) : undefined),
    dispatch: (name, call, signal) => (name === SPEC.name ? run(processes, call, signal) : undefined),
  }
}

type Args = Readonly<Record<string, unknown>>

async function describe(args: Args): Promise<Action> {
  secondsOf(args)
  return { kind: 'bash', command: commandOf(args) }
}

async function run(processes: ProcessHost, call: ToolDispatch, signal: AbortSignal): Promise<ToolOutput> {
  const { action, args, turnOver } = call
  if (action.kind !== 'bash') throw new TypeError(`bash was permitted as ${action.kind}`)
  const seconds = secondsOf(args)
  const result = await runShell(processes, { call, command: action.command, seconds }, signal)
  const left = result.running ? await leaveRunning(result.running, turnOver) : []
  return toAnswer(result, left)
}

async function runShell(
  processes: ProcessHost,
  { call, command, seconds }: { call: ToolDispatch; command: string; seconds: number },
  signal: AbortSignal,
): Promise<CommandResult> {
  const { cwd, spillDir } = call
  const env = commandEnv(call.env)
  const options = { timeoutMs: seconds * 1000, spillFolder: spillDir, keep: true, filter: outputCleaner }
  const runBy = (shell: string) =>
    runCommand(processes, { argv: [shell, '-c', command], cwd, env }, options, signal)
  try {
    return await runBy('bash')
  } catch (reason) {
    if (!(reason instanceof CrabError) || reason.kind !== 'missing') throw reason
    return await runBy('sh')
  }
}

/** What the shell did not wait for goes on until the turn is over. Gives what there is to say about it. */
async function leaveRunning(running: RunningProcess, turnOver: AbortSignal): Promise<string[]> {
  const end = () => void running.end()
  turnOver.addEventListener('abort', end, { once: true })
  if (turnOver.aborted) end()
  const { length } = await running.members().catch(() => []) // it ends all the same
  const what = length === 1 ? '1 process still runs' : `${length || 'some'} processes still run`
  return [`[${what} in the background; the end of this turn ends that]`]
}

function toAnswer({ output, status, timedOut }: CommandResult, notes: readonly string[]): ToolOutput {
  const { code, signal } = status
  const text = output.trimEnd()
  const end = timedOut || code === 0 ? [] : [signal ? `[ended by ${signal}]` : `[exit code ${code}]`]
  const lines = [...(text === '' ? [] : [text]), ...end, ...notes]
  return { output: lines.join('\n') || '[no output]', isError: timedOut || code !== 0 }
}

function commandOf(args: Args): string {
  const command = args['command']
  if (typeof command !== 'string' || command.trim() === '') throw bad('command must be a string')
  if (command.includes('\0')) throw bad('command holds a NUL character')
  if (Buffer.byteLength(command) <= MAX_COMMAND_BYTES) return command
  throw bad(`command is longer than ${MAX_COMMAND_BYTES} bytes`, 'write it to a file and run that')
}

/** Some models say null for what they leave out, and a number as a string. */
function secondsOf(args: Args): number {
  const seconds = Number(args['timeout'] ?? DEFAULT_SECONDS)
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds
  throw bad(`timeout must be a number of seconds, ${MAX_SECONDS} at most`)
}

function bad(why: string, hint?: string): CrabError {
  return new CrabError('invalid', `Cannot run bash: ${why}`, hint === undefined ? {} : { hint })
}
