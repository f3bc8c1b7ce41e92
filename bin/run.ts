import { main } from '../src/commands/main.ts'
import { processHost } from './host.ts'

/** Runs the program under the name it was started by; the event loop empties and the process ends by itself. */
export async function run(name: string): Promise<void> {
  process.exitCode = await main(name, process.argv.slice(2), processHost())
}
