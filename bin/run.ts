import type { Host } from '../src/cli/host.ts'
import { main } from '../src/commands/main.ts'
import { processHost } from './host.ts'
import { versionLine } from './program.ts'

/** Runs a command line, by default that of this process, and returns the exit code. */
export async function run(
  name: string,
  argv: readonly string[] = process.argv.slice(2),
  host: Host = processHost(),
): Promise<number> {
  const line = versionLine(name, argv)
  if (line !== undefined) {
    host.stdout.write(line)
    return 0
  }
  const code = await main(name, argv, host)
  return host.isSignalled && SIGNAL_CODES.has(code) ? host.leave(code) : code
}

/**
 * The exit codes of commands that a signal cancelled. Such a process ends by the signal itself, once
 * everything is stored and printed: a shell loop continues after exit 130 but stops after a command that
 * SIGINT ended, although `$?` is the same.
 */
const SIGNAL_CODES: ReadonlySet<number> = new Set([129, 130, 143])
