import { parseArgs } from 'node:util'
import { fireForSeconds } from '../test/support/cron-seconds.ts'
import { FROM_SOURCE } from '../test/support/daemon.ts'
import { playInterleavings } from '../test/support/interleavings.ts'
import { makeKillLoad } from '../test/support/kill-load.ts'
import { makeCallLoad } from '../test/support/mcp/call-load.ts'
import { BINARY } from '../test/support/run-binary.ts'
import { makeSearchKillLoad, WRITERS } from '../test/support/search-kill-load.ts'
import { killServices } from '../test/support/service-kill-load.ts'

// Bounded runs against a real daemon, of the built binary or what CRABTALK_BIN names:
//   npm run soak -- [kill] [--rounds N]   kills it with SIGKILL while 50 conversations stream, again and again, and checks
//     each time that nothing is lost that a client was told, that no program is left, and that every conversation goes on;
//     a round takes some seconds
//   npm run soak -- mcp [--calls N]       holds five MCP servers: a quiet minute, then calls (10,000) after as many that
//     warm it; checks that the built daemon wakes once a minute at most, and that neither
//     memory nor descriptors grow
//   npm run soak -- search [--kills N]    plays 10,000 interleavings of what an index does; then kills (200) processes that write conversations, a memory and checkpoints of the
//     search, and now and then a daemon; checks each time that everything acknowledged is found, and every file readable
//   npm run soak -- cron [--seconds N]    lets a schedule fire every second (10 times) beside a quiet one, a slow one and one that
//     is edited; checks that no second is left out, that no two turns of one overlap, and how soon the edit holds
//   npm run soak -- services [--rounds N] lets verbs of crabup and kill -9 of services and their supervisor meet (20 rounds); checks each time
//     that a start gives one of each, and that nothing is left at the end
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '20' },
    calls: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '10' },
  },
})
const SOAKS: Readonly<Record<string, () => Promise<string>>> = {
  kill: () => soakKills(Number(values.rounds)),
  mcp: () => soakCalls(Number(values.calls)),
  search: () => soakSearch(Number(values.kills)),
  cron: () => soakCron(Number(values.seconds)),
  services: () => soakServices(Number(values.rounds)),
}
/** What a start begins has ended by then, collections of garbage too. */
const SETTLE_MS = 30_000
const IDLE_MS = 60_000
/** Garbage is collected in one of the first. */
const MINUTES = 3
/** One a minute of our own, in a few switches. From source Node wakes every eight seconds by itself. */
const MOST_WAKE_UPS = 6
/** What a heap may move within. */
const MOST_GROWTH_MIB = 40
/** Of add, remove, seal, merge, restore and search. */
const INTERLEAVINGS = 10_000
/** Rounds of which the last is with a daemon. */
const DAEMON_ROUND = 8
/** Connections over HTTP that are kept for the next call. */
const MOST_MORE_DESCRIPTORS = 10

process.exitCode = await soak(positionals[0] ?? 'kill')

async function soak(name: string): Promise<number> {
  const run = SOAKS[name]
  if (!run) {
    console.error(`Cannot soak: there is no ${name}: ${Object.keys(SOAKS).join(', ')}`)
    return 1
  }
  try {
    console.log(`soak: ${await run()}`)
    return 0
  } catch (reason) {
    console.error(reason)
    return 1
  }
}

async function soakKills(rounds: number): Promise<string> {
  await using load = await makeKillLoad()
  const sum = { begun: 0, ended: 0, cut: 0 }
  let slowest = 0
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
  const turns = `${sum.begun} turns begun, ${sum.ended} ended, ${sum.cut} cut`
  return `${rounds} kills, ${turns}, back after ${Math.round(slowest)} ms at most: nothing lost`
}

async function soakCalls(calls: number): Promise<string> {
  await using load = await makeCallLoad()
  await load.idle(SETTLE_MS)
  let wakeUps = Infinity
  for (let minute = 1; minute <= MINUTES && wakeUps > MOST_WAKE_UPS; minute++) {
    wakeUps = await load.idle(IDLE_MS)
    console.log(`${IDLE_MS / 1000} s idle with five servers: ${wakeUps} wake-ups`)
  }
  await load.call(calls) // what is compiled and cached once
  const before = await load.held()
  console.log(`${calls} calls: ${before.rssMib} MiB, ${before.descriptors} descriptors`)
  await load.call(calls)
  const after = await load.held()
  console.log(`${2 * calls} calls: ${after.rssMib} MiB, ${after.descriptors} descriptors`)
  await load.check()
  const grown = after.rssMib - before.rssMib
  const opened = after.descriptors - before.descriptors
  if (wakeUps > MOST_WAKE_UPS || grown > MOST_GROWTH_MIB || opened > MOST_MORE_DESCRIPTORS) {
    throw new Error(
      `${wakeUps} wake-ups, ${grown} MiB and descriptors ${before.descriptors} → ${after.descriptors}`,
    )
  }
  return `${wakeUps} wake-ups in a quiet minute, ${grown} MiB more after ${calls} further calls: nothing grows`
}

async function soakSearch(kills: number): Promise<string> {
  await playInterleavings(INTERLEAVINGS)
  console.log(`${INTERLEAVINGS} interleavings of the index's steps: as brute force finds it`)
  await using load = await makeSearchKillLoad(BINARY.endsWith('.ts') ? FROM_SOURCE : [BINARY])
  const sum = { kills: 0, said: 0, changed: 0, cut: 0 }
  for (let round = 1; sum.kills < kills; round++) {
    const isDaemon = round % DAEMON_ROUND === 0
    const { said, changed, hadCheckpoint, wasSaving } = await (isDaemon ? load.daemonRound() : load.round())
    sum.kills += isDaemon ? 1 : WRITERS
    sum.said += said
    sum.changed += changed
    sum.cut += wasSaving ? 1 : 0
    const saved = hadCheckpoint ? (wasSaving ? 'killed while it saved' : 'a checkpoint') : 'no checkpoint yet'
    console.log(
      `${sum.kills}: ${isDaemon ? 'daemon, ' : ''}${said} messages, ${changed} changes of the memory, ${saved}`,
    )
  }
  const what = `${sum.said} messages, ${sum.changed} changes of the memory, ${sum.cut} times while it saved`
  return `${sum.kills} kills, ${what}: all of it is found`
}

async function soakServices(rounds: number): Promise<string> {
  const came = await killServices(rounds, BINARY.endsWith('.ts') ? undefined : [BINARY])
  return `${came.rounds} rounds, ${came.kills} kills, ${came.verbs} verbs: one of each every time, and nothing left`
}

async function soakCron(seconds: number): Promise<string> {
  const { said, fired, missed, editedAfterMs } = await fireForSeconds(seconds)
  if (missed > 0 || fired < seconds || editedAfterMs > 2000) {
    throw new Error(
      `fired ${fired} times, missed ${missed}, an edit held after ${editedAfterMs.toFixed(0)} ms`,
    )
  }
  return `${fired} fires, ${said.length / 2} turns in the conversation, an edit held after ${editedAfterMs.toFixed(0)} ms`
}
