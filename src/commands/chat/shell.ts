import { constants } from 'node:os'
import { CrabError } from '../../core/base/errors.ts'
import { outputCleaner } from '../../core/hooks/bash/clean-output.ts'
import { commandEnv } from '../../core/hooks/bash/environment.ts'
import { liveOutput } from '../../core/hooks/bash/live-output.ts'
import { runCommand } from '../../core/process/run-command.ts'
import type { ProcessHost } from '../../core/process/types.ts'

/** What a person's own command line needs. */
export interface ShellOptions {
  processes: ProcessHost
  /** Absolute. */
  cwd: string
  env: Readonly<Record<string, string>>
  /** Where the whole of a long output is written; absolute. */
  spillFolder: string
  /** Width of the terminal. */
  columns: number
  /** Called now and then with the newest lines of what it prints. */
  tell(newest: string): void
}

export interface ShellResult {
  /** Both streams as they came, without control sequences; of a long one head and tail, and where the whole is. */
  output: string
  /** 128 + n for signal n. */
  exitCode: number
}

/**
 * Runs a command line as a person typed it, without a terminal, until it ends. What it leaves running is ended.
 *
 * An abort ends it and fails with `cancelled`; without a shell it fails with `missing`.
 */
export async function runLocalShell(
  line: string,
  options: ShellOptions,
  signal: AbortSignal,
): Promise<ShellResult> {
  const { processes, cwd, spillFolder, columns, tell } = options
  using live = liveOutput(outputCleaner, ({ message }) => tell(message))
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
  return { output, exitCode: status.code ?? 128 + constants.signals[status.signal ?? 'SIGKILL'] }
}
