import { constants } from 'node:os'
import { CrabError } from '../../base/errors.ts'
import { type CommandResult, runCommand } from '../../process/run-command.ts'
import type { ProcessHost } from '../../process/types.ts'
import { outputCleaner } from './clean-output.ts'
import { commandEnv } from './environment.ts'
import { liveOutput } from './live-output.ts'

/** The environment of a command line that the user runs. */
export interface ShellOptions {
  processes: ProcessHost
  /** An absolute path. */
  cwd: string
  env: Readonly<Record<string, string>>
  /** The folder to which the whole of a long output is written; an absolute path. */
  spillFolder: string
  /** The width of the terminal. */
  columns: number
  /** Called from time to time with the newest lines of output. */
  onOutput(newest: string): void
}

/** The output and the exit code of a command line. */
export interface ShellResult {
  /**
   * Both streams in order of arrival, without control sequences; a long output is reduced to head and tail,
   * with the path of the whole.
   */
  output: string
  /** The exit code; 128 + n for signal n. */
  exitCode: number
}

/**
 * Runs a command line that the user typed, without a terminal, until it ends, and ends what it leaves
 * running.
 *
 * When aborted, it ends the command and fails with `cancelled`. Fails with `missing` when there is no shell.
 */
export async function runLocalShell(
  line: string,
  options: ShellOptions,
  signal: AbortSignal,
): Promise<ShellResult> {
  const { processes, cwd, spillFolder, columns, onOutput } = options
  using live = liveOutput(outputCleaner, ({ message }) => onOutput(message))
  const env = { ...commandEnv(options.env), COLUMNS: String(columns) }
  const runBy = (shell: string) =>
    runCommand(
      processes,
      { argv: [shell, '-c', line], cwd, env },
      { spillFolder, filter: live.filter },
      signal,
    )
  const { output, status } = await runBy('bash').catch((reason: unknown) => {
    if (reason instanceof CrabError && reason.kind === 'missing') return runBy('sh')
    throw reason
  })
  return toShellResult({ output, status })
}

/** Converts the exit of a command line to the number that a shell reports. */
export function toShellResult({ output, status }: Pick<CommandResult, 'output' | 'status'>): ShellResult {
  return { output, exitCode: status.code ?? 128 + constants.signals[status.signal ?? 'SIGKILL'] }
}
