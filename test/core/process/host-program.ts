import { openProcessHost } from '../../../src/core/process/process-host.ts'
import type { ProcessCommand, RunningProcess } from '../../../src/core/process/types.ts'

/**
 * Starts the commands of its first argument (JSON) and prints `started PID…` when each has written something.
 * Then `exit` on its standard input makes it exit silently, `dispose` and `release` make it end its programs
 * in these ways first; a signal ends it as usual.
 */
const commands: ProcessCommand[] = JSON.parse(process.argv[2]!)
const host = openProcessHost({ pid: process.pid })
const running = await Promise.all(commands.map((command) => host.start(command)))
await Promise.all(running.map(hasWritten))
process.stdout.write(`started ${running.map(({ pid }) => pid).join(' ')}\n`)
process.stdin.once('data', async (word) => {
  if (String(word) === 'exit\n') process.exit(0)
  if (String(word) === 'dispose\n') await host[Symbol.asyncDispose]()
  if (String(word) === 'release\n') host.releaseAll()
  process.stdin.destroy() // nothing else keeps it running
})

async function hasWritten({ stdout, stderr }: RunningProcess): Promise<void> {
  stderr.resume()
  await new Promise((resolve) => stdout.once('data', resolve))
}
