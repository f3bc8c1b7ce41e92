import { route } from '../../../src/core/protocol/dispatch.ts'
import { listen } from '../../../src/core/transport/listen.ts'

// A daemon for a test that limits its files: prints what its listener reports, and exits at the end of its standard input.
const listener = await listen(JSON.parse(process.argv[2]!), {
  dispatch: route({ ping: async () => {} }),
  graceMs: 0,
  onError: ({ kind, message }) => process.stdout.write(`${kind} ${message}\n`),
})
process.stdout.write('listening\n')
for await (const _ of process.stdin);
await listener[Symbol.asyncDispose]()
