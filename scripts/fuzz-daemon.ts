import { parseArgs } from 'node:util'
import { fuzzInBox } from '../test/support/fuzz-box.ts'

// Starts a daemon and attacks it with hostile bytes and random requests of every operation, on many connections in
// parallel:
//   npm run fuzz -- [--seconds N] [--seed N]
// It runs the built binary, or the one that CRABTALK_BIN names. The same seed makes the same clients, but not the same
// order of events.
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
process.exitCode = await fuzz(Number(values.seconds), Number(values.seed))

async function fuzz(seconds: number, seed: number): Promise<number> {
  try {
    const { connections, requests, answered, refused } = await fuzzInBox({ ms: 1000 * seconds, seed })
    const replies = `${answered} replies, ${refused} errors`
    console.log(`fuzz: ${connections} connections, ${requests} requests, ${replies}, seed ${seed}: ok`)
    return 0
  } catch (reason) {
    console.error(reason)
    console.log(`fuzz: seed ${seed}: failed`)
    return 1
  }
}
