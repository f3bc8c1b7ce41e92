import { parseArgs } from 'node:util'
import { makeKillLoad } from '../test/support/kill-load.ts'

// Kills the daemon of one home with SIGKILL while 50 conversations stream, again and again, and checks each time that
// nothing is lost that a client was told, that no program is left, and that every conversation goes on:
//   npm run soak -- [--rounds N]
// It runs the built binary, or what CRABTALK_BIN names; a round takes some seconds.
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } })
process.exitCode = await soak(Number(values.rounds))

async function soak(rounds: number): Promise<number> {
  await using load = await makeKillLoad()
  const sum = { begun: 0, ended: 0, cut: 0 }
  let slowest = 0
  try {
    for (let round = 1; round <= rounds; round++) {
      const { begun, ended, cut, backMs } = await load.round()
      console.log(
        `${round}: ${begun} turns begun, ${ended} ended, ${cut} cut; back after ${Math.round(backMs)} ms`,
      )
      sum.begun += begun
      sum.ended += ended
      sum.cut += cut
      slowest = Math.max(slowest, backMs)
    }
    await load.finish()
  } catch (reason) {
    console.error(reason)
    return 1
  }
  const turns = `${sum.begun} turns begun, ${sum.ended} ended, ${sum.cut} cut`
  console.log(`soak: ${rounds} kills, ${turns}, back after ${Math.round(slowest)} ms at most: nothing lost`)
  return 0
}
