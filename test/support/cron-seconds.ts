import assert from 'node:assert/strict'
import type { Reply } from './model-server.ts'
import { HAS_DAEMONS } from './run-binary.ts'
import { cronEntry, readSandboxCronState, startSandboxCron, writeCrons } from './sandbox-cron.ts'
import { startSandboxDaemon, WITH_DAEMON } from './sandbox-daemon.ts'
import { lastPrompt, makeTalk, type Talk } from './talk.ts'
import { until } from './until.ts'

/** The result of running entries that fire every second. */
export interface CronSeconds {
  /** The messages of the entry's conversation, oldest first. */
  said: readonly string[]
  /** The number of times it fired, and the number of seconds it skipped. */
  fired: number
  missed: number
  /** The time from the edit of an entry to the first message of its new form, in milliseconds. */
  editedAfterMs: number
}

/**
 * Lets an entry fire `count` times through a daemon, once a second, next to one in its quiet hours, one that
 * takes longer than a second, and one that is edited meanwhile. Checks that the turns of an entry never
 * overlap, and that quiet hours are respected.
 */
export async function fireForSeconds(count: number): Promise<CronSeconds> {
  const overlaps: string[] = []
  const open = new Set<string>()
  await using talk = await makeTalk((request): Reply => {
    const words = lastPrompt(request)
    if (open.has(words)) overlaps.push(words)
    open.add(words)
    void request.done.then(() => open.delete(words))
    return { parts: words === 'do 3' ? ['slow', 'ly'] : ['done'], ...(words === 'do 3' && { paceMs: 1500 }) }
  })
  await using _daemon = HAS_DAEMONS ? undefined : await startSandboxDaemon(talk)
  const others = cronEntry(2, quietNow()) + cronEntry(3)
  await writeCrons(talk.home, cronEntry(1) + others + cronEntry(4, { schedule: '0 0 0 1 1 *' }))
  await using cron = await startSandboxCron(talk, { env: { ...WITH_DAEMON, TZ: 'UTC' } })
  await until('it has fired', () => countFires(talk, 'do 1') >= 1)
  const edited = performance.now()
  await writeCrons(talk.home, cronEntry(1) + others + cronEntry(4, { content: 'edited' }))
  await until('the edited entry has fired', () => countFires(talk, 'edited') >= 1)
  const editedAfterMs = performance.now() - edited
  await until(`it has fired ${count} times`, () => countFires(talk, 'do 1') >= count)
  cron.kill('SIGTERM')
  await cron.finished
  const { entries } = await readSandboxCronState(talk.home)
  const [first, , slow] = [1, 2, 3].map((id) => entries.find((one) => one.id === id)!)
  assert.deepEqual([overlaps, countFires(talk, 'do 2')], [[], 0])
  assert.ok(slow!.skipped >= 1, 'what takes longer than a second is skipped meanwhile')
  const sessions = await talk.sessions()
  const lines = sessions.find(({ said }) => said[0] === 'user: do 1')?.said ?? []
  return { said: lines, fired: first!.fired, missed: first!.missed + first!.skipped, editedAfterMs }
}

function countFires({ server }: Talk, words: string): number {
  return server.requests.filter((request) => lastPrompt(request) === words).length
}

/** Returns quiet hours that include now and at least the next hour. */
function quietNow(): { quiet_start: string; quiet_end: string } {
  const hour = new Date().getUTCHours()
  const at = (hours: number) => `${String((hours + 24) % 24).padStart(2, '0')}:00`
  return { quiet_start: at(hour - 1), quiet_end: at(hour + 2) }
}
