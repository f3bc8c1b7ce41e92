import { delimiter, dirname, join } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { replaceFile } from '../../base/files.ts'
import { keepOutermost } from '../../policy/paths.ts'
import { readPlain } from '../../policy/read-only/plain-files.ts'
import type { ReadOnlyUse } from '../../policy/types.ts'
import { type CommandResult, runCommand } from '../../process/run-command.ts'
import type { ProcessHost, RunningProcess } from '../../process/types.ts'
import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import { outputCleaner } from './clean-output.ts'
import { commandEnv, DEFAULT_PATH, hardenedEnv } from './environment.ts'
import { liveOutput } from './live-output.ts'
import { keepFoldersOutside } from './program-origin.ts'
import { type ShellResult, toShellResult } from './user-shell.ts'

/** One command line, for a call of `bash`. */
export interface ShellCommand {
  call: Pick<ToolDispatch, 'cwd' | 'roots' | 'env' | 'spillDir' | 'turnOver' | 'progress'>
  command: string
  /** The read-only use of each of its commands, when all are known to change nothing. */
  uses?: readonly ReadOnlyUse[] | undefined
  /** The time limit. */
  seconds: number
}

/**
 * Runs a command line and returns its output and exit. Fails when there is no shell, when the folder does not
 * exist, and after an abort.
 */
export async function runShell(
  processes: ProcessHost,
  shellCommand: ShellCommand,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const result = await runBash(processes, shellCommand, signal)
  const left = result.running ? await leaveRunning(result.running, shellCommand.call.turnOver) : []
  return toAnswer(result, left)
}

/**
 * Runs a line of read-only commands, whose uses were determined, and ends what it leaves running. Fails as
 * runShell() does.
 */
export async function runHardened(
  processes: ProcessHost,
  { call, command, uses }: HardenedLine,
  signal: AbortSignal,
): Promise<ShellResult> {
  const line = { call: { ...call, progress: () => undefined }, command, uses, seconds: HARDENED_SECONDS }
  const { output, status, running } = await runBash(processes, line, signal)
  await running?.end()
  return toShellResult({ output, status })
}

interface HardenedLine {
  call: Pick<ToolDispatch, 'cwd' | 'roots' | 'env' | 'spillDir'>
  command: string
  uses: readonly ReadOnlyUse[]
}

/** The time limit of a line that crabtalk runs on its own. */
const HARDENED_SECONDS = 60

async function runBash(
  processes: ProcessHost,
  {
    call,
    command,
    uses,
    seconds,
  }: Omit<ShellCommand, 'call'> & { call: Omit<ShellCommand['call'], 'turnOver'> },
  signal: AbortSignal,
): Promise<CommandResult> {
  const { cwd, spillDir } = call
  const env = uses ? await readOnlyEnv(call, uses) : commandEnv(call.env)
  const line = uses ? `ulimit -d ${MAX_DATA_KIB} 2>/dev/null; ${command}` : command
  using live = liveOutput(outputCleaner, call.progress)
  const options = { timeoutMs: seconds * 1000, spillFolder: spillDir, keep: true, filter: live.filter }
  const runBy = (shell: string) =>
    runCommand(processes, { argv: [shell, '-c', line], cwd, env }, options, signal)
  try {
    return await runBy('bash')
  } catch (reason) {
    if (!(reason instanceof CrabError) || reason.kind !== 'missing') throw reason
    return await runBy('sh')
  }
}

/** Lets the processes that the shell did not wait for run until the turn is over. Returns a note about them. */
async function leaveRunning(running: RunningProcess, turnOver: AbortSignal): Promise<string[]> {
  const end = () => void running.end()
  turnOver.addEventListener('abort', end, { once: true })
  if (turnOver.aborted) end()
  const { length } = await running.members().catch(() => []) // the processes are ended even if they cannot be listed
  const what = length === 1 ? '1 process is still running' : `${length || 'some'} processes are still running`
  return [`[${what} in the background; it ends with this turn]`]
}

function toAnswer({ output, status, timedOut }: CommandResult, notes: readonly string[]): ToolOutput {
  const { code, signal } = status
  const text = output.trimEnd()
  const end = timedOut || code === 0 ? [] : [signal ? `[killed by ${signal}]` : `[exit code ${code}]`]
  const lines = [...(text === '' ? [] : [text]), ...end, ...notes]
  return { output: lines.join('\n') || '[no output]', isError: timedOut || code !== 0 }
}

/**
 * The limit on the private memory of each program in a line that runs without permission; not every system
 * enforces it.
 */
const MAX_DATA_KIB = 2 * 1024 * 1024

/**
 * Returns the environment for a line of read-only commands: hardenedEnv(), without the PATH folders that
 * depend on the project, and with what git and rg need. A line that looks up programs and does not use git
 * keeps the whole PATH.
 */
async function readOnlyEnv(
  { cwd, roots, env, spillDir }: Pick<ToolDispatch, 'cwd' | 'roots' | 'env' | 'spillDir'>,
  uses: readonly ReadOnlyUse[],
): Promise<Record<string, string>> {
  const hardened = hardenedEnv(env)
  const path = hardened['PATH'] ?? DEFAULT_PATH
  const tops = keepOutermost(uses.flatMap(({ repositories = [] }) => repositories))
  const workspace = { workspace: cwd, ...(roots && { roots }) }
  const looksUp = uses.some(({ form }) => LOOKUPS.has(form))
  return {
    ...hardened,
    PATH: looksUp && tops.length === 0 ? path : await keepFoldersOutside(path, workspace),
    ...(tops.length > 0 && { GIT_CEILING_DIRECTORIES: tops.map((top) => dirname(top)).join(delimiter) }),
    ...(uses.some(({ form }) => form === 'rg') && {
      RIPGREP_CONFIG_PATH: await writeRipgrepConfig(spillDir),
    }),
  }
}

/**
 * Writes the configuration of rg unless it is already correct. Without it, rg prints lines of an ignore file,
 * which may be a link to any file.
 */
async function writeRipgrepConfig(folder: string): Promise<string> {
  const path = join(folder, 'ripgreprc')
  const found = await readPlain(path).catch(() => undefined) // missing, or not a plain file
  if (found?.toString() !== RIPGREP_CONFIG) await replaceFile(path, RIPGREP_CONFIG)
  return path
}

const RIPGREP_CONFIG = '--no-ignore-messages\n'
/** The forms that print where PATH finds a program. */
const LOOKUPS: ReadonlySet<string> = new Set(['which', 'type', 'command -v'])
