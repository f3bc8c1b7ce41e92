import { CrabError } from '../../base/errors.ts'
import type { PolicyAction } from '../../policy/types.ts'
import type { ProcessHost } from '../../process/types.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolDispatch, ToolGroup, ToolOutput, ToolRequest } from '../../runtime/hook.ts'

const DEFAULT_SECONDS = 120
const MAX_SECONDS = 600
/** Below the limit of one argument on Linux, 128 KiB. */
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

const GROUP: ToolGroup = {
  id: 'shell',
  title: 'Shell',
  description: 'Run commands',
  tools: [SPEC.name],
}

/**
 * Provides the tool `bash`: one command line, run by bash, or by sh where bash is missing, in the working
 * directory of the turn.
 *
 * Its standard input is empty. Processes that it leaves running are ended with the turn (ADR 0079).
 */
export function bashHook({ processes, homeDir, closed }: BashOptions): Hook {
  return {
    schema: () => [SPEC],
    groups: () => [GROUP],
    describe: (name, request) =>
      name === SPEC.name ? describe(request, { processes, homeDir, closed }) : undefined,
    dispatch: (name, call, signal) => (name === SPEC.name ? run(processes, call, signal) : undefined),
  }
}

interface BashOptions {
  processes: ProcessHost
  /** The user's home directory. */
  homeDir: string
  /** The paths that no tool may read, as openProtectedPaths() takes them. */
  closed: readonly string[]
}

type Args = Readonly<Record<string, unknown>>

async function describe(
  { args, cwd, roots, env }: ToolRequest,
  { processes, ...place }: BashOptions,
): Promise<PolicyAction> {
  parseTimeout(args)
  const command = parseCommand(args)
  const { analyzeLine } = await import('./read-only.ts') // loaded lazily: most turns run no command
  const { DEFAULT_PATH, gitConfigFiles } = await import('./environment.ts')
  const path = env && (env['PATH'] ?? DEFAULT_PATH)
  const checkGit = env && {
    configFiles: gitConfigFiles(env),
    async isOldGit() {
      const { isOldGit } = await import('./git-version.ts')
      return await isOldGit(processes, { cwd, env, ...(roots && { roots }) })
    },
  }
  const analysis = await analyzeLine(command, { ...place, cwd, ...(roots && { roots }), path, ...checkGit })
  return { kind: 'bash', command, ...analysis }
}

async function run(processes: ProcessHost, call: ToolDispatch, signal: AbortSignal): Promise<ToolOutput> {
  const { action, args } = call
  if (action.kind !== 'bash') throw new TypeError(`bash was permitted as ${action.kind}`)
  const { runShell } = await import('./run-shell.ts')
  const { command, readOnly } = action
  const uses = readOnly?.every((use) => use !== undefined) ? readOnly : undefined
  return await runShell(processes, { call, command, uses, seconds: parseTimeout(args) }, signal)
}

function parseCommand(args: Args): string {
  const command = args['command']
  if (typeof command !== 'string' || command.trim() === '')
    throw bad(typeof command === 'string' ? 'command is empty' : 'command must be a string')
  if (command.includes('\0')) throw bad('command has a NUL character')
  if (Buffer.byteLength(command) <= MAX_COMMAND_BYTES) return command
  throw bad(`command is longer than ${MAX_COMMAND_BYTES} bytes`, 'write it to a file and run that')
}

/** Parses the time limit. Some models send null for an omitted field, and a number as a string. */
function parseTimeout(args: Args): number {
  const seconds = Number(args['timeout'] ?? DEFAULT_SECONDS)
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds
  throw bad(`timeout must be a number of seconds, ${MAX_SECONDS} at most`)
}

function bad(why: string, hint?: string): CrabError {
  return new CrabError('invalid', `Cannot run bash: ${why}`, hint === undefined ? {} : { hint })
}
