import { parseArgs } from 'node:util'
import { fireForSeconds } from '../test/support/cron-seconds.ts'
import { FROM_SOURCE } from '../test/support/daemon.ts'
import { playInterleavings } from '../test/support/interleavings.ts'
import { makeKillLoad } from '../test/support/kill-load.ts'
import { makeCallLoad } from '../test/support/mcp/call-load.ts'
import { BINARY } from '../test/support/run-binary.ts'
import { makeSearchKillLoad, WRITERS } from '../test/support/search-kill-load.ts'
import { killServices } from '../test/support/service-kill-load.ts'
import { playWindowDay } from '../test/support/window-day.ts'

// Bounded runs against a real daemon, with the built binary or the one that CRABTALK_BIN names. The
// numbers are the defaults:
//   npm run soak -- [kill] [--rounds N]   kills it with SIGKILL while 50 conversations stream, and checks after each of
//     20 rounds that nothing acknowledged is lost, that no program is left running, and that every conversation
//     continues; a round takes several seconds
//   npm run soak -- mcp [--calls N]       runs five MCP servers: a quiet minute, then 10,000 calls after as many to warm
//     up; checks that the built daemon wakes at most once a minute, and that neither memory nor descriptors grow
//   npm run soak -- search [--kills N]    plays 10,000 random interleavings of index operations; then makes 200 kills of
//     processes that write conversations, a memory and checkpoints of the search, sometimes of a daemon; checks each
//     time that everything acknowledged is found, and that every file is readable
//   npm run soak -- cron [--seconds N]    fires a schedule every second, 10 times, next to a quiet one, a slow one and an
//     edited one; checks that no second is skipped, that turns of one schedule do not overlap, and how soon the edit
//     takes effect
//   npm run soak -- services [--rounds N] runs crabup commands while services and their supervisor are killed with
//     kill -9; checks after each of 20 rounds that a start leaves exactly one of each, and nothing at the end
//   npm run soak -- windows [--rounds N]  works in two windows in two projects for 20 rounds while windows and the daemon are
//     killed and turns are left in the background; checks that every message is in its own conversation and every command
//     ran in its own directory
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
  windows: () => soakWindows(Number(values.rounds)),
}
/** The time in which a start settles, including garbage collection. */
const SETTLE_MS = 30_000
const IDLE_MS = 60_000
/** The number of minutes tried; garbage is collected in one of the first. */
const MINUTES = 3
/**
 * The limit for one wake-up of ours a minute, counted in context switches. Run from source, Node itself wakes
 * every eight seconds.
 */
const MAX_WAKE_UPS = 6
/** The normal variation of the heap. */
const MAX_GROWTH_MIB = 40
/** The number of random sequences of add, remove, seal, merge, restore and search. */
const INTERLEAVINGS = 10_000
/** Every round with a multiple of this number kills a daemon. */
const DAEMON_ROUND = 8
/** Kept-alive HTTP connections. */
const MAX_NEW_DESCRIPTORS = 10

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

async function soakWindows(rounds: number): Promise<string> {
  const { messages, killedWindows, killedDaemons, backgrounds } = await playWindowDay(rounds)
  return `${messages} messages in two projects, ${killedWindows} windows and ${killedDaemons} daemons killed, ${backgrounds} turns left, nothing mixed up`
}

async function soakKills(rounds: number): Promise<string> {
  await using load = await makeKillLoad()
  const sum = { started: 0, ended: 0, cut: 0 }
  let slowest = 0
  for (let round = 1; round <= rounds; round++) {
    const { started, ended, cut, backMs } = await load.round()
    console.log(
      `${round}: ${started} turns started, ${ended} ended, ${cut} cut; back after ${Math.round(backMs)} ms`,
    )
    sum.started += started
    sum.ended += ended
    sum.cut += cut
    slowest = Math.max(slowest, backMs)
  }
  await load.finish()
  const turns = `${sum.started} turns started, ${sum.ended} ended, ${sum.cut} cut`
  return `${rounds} kills, ${turns}, back after ${Math.round(slowest)} ms at most: nothing lost`
}

async function soakCalls(calls: number): Promise<string> {
  await using load = await makeCallLoad()
  await load.idle(SETTLE_MS)
  let wakeUps = Infinity
  for (let minute = 1; minute <= MINUTES && wakeUps > MAX_WAKE_UPS; minute++) {
    wakeUps = await load.idle(IDLE_MS)
    console.log(`${IDLE_MS / 1000} s idle with five servers: ${wakeUps} wake-ups`)
  }
  await load.call(calls) // warms up code that is compiled or cached once
  const before = await load.held()
  console.log(`${calls} calls: ${before.rssMib} MiB, ${before.descriptors} descriptors`)
  await load.call(calls)
  const after = await load.held()
  console.log(`${2 * calls} calls: ${after.rssMib} MiB, ${after.descriptors} descriptors`)
  await load.check()
  const grown = after.rssMib - before.rssMib
  const opened = after.descriptors - before.descriptors
  if (wakeUps > MAX_WAKE_UPS || grown > MAX_GROWTH_MIB || opened > MAX_NEW_DESCRIPTORS) {
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
  const result = await killServices(rounds, BINARY.endsWith('.ts') ? undefined : [BINARY])
  return `${result.rounds} rounds, ${result.kills} kills, ${result.verbs} verbs: one of each every time, and nothing left`
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
