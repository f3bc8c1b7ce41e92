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
  if (line === undefined) return main(name, argv, host)
  host.stdout.write(line)
  return 0
}
