import type { Host } from '../src/commands/host.ts'
import { main } from '../src/commands/main.ts'
import { processHost } from './host.ts'
import { versionLine } from './program.ts'

/** Runs a command line, this process's own when none is given, and gives the exit code. */
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
 * A shell's loop goes on after a command that exits with 130, and stops after one that SIGINT ended; `$?` is the same.
 * So what a signal cancelled is ended by that signal, once everything is stored and printed.
 */
const SIGNAL_CODES: ReadonlySet<number> = new Set([129, 130, 143])
