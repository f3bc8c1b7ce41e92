import { setTimeout as sleep } from 'node:timers/promises'
import { longConversation } from '../conversation.ts'
import { startDaemon } from '../daemon.ts'
import { keyEchoes } from '../echo.ts'
import { NODE } from '../floors.ts'
import { toFailure } from '../harness.ts'
import { END } from '../markdown.ts'
import { openScreen, readPeakMb, readProcessCpu, type ScreenProgram, settled } from '../screen.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import { longestGap, median, mostWithin, quantile } from '../statistics.ts'
import type { Column, Line, Mark } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'firstFrameMs', title: 'first frame, ms', digits: 1 },
  { key: 'echoP50', title: 'key to echo, p50 ms', digits: 1 },
  { key: 'echoP99', title: 'key to echo, p99 ms', digits: 1 },
  { key: 'busyEchoP50', title: 'key to echo while an answer comes, p50 ms', digits: 1 },
  { key: 'busyEchoP99', title: 'key to echo while an answer comes, p99 ms', digits: 1 },
  { key: 'idleCpu', title: 'CPU of 10 s idle, %', digits: 1 },
  { key: 'floodMs', title: '20,000 chunks: ms' },
  { key: 'floodFrames', title: '20,000 chunks: frames' },
  { key: 'floodFps', title: '20,000 chunks: most frames in a second' },
  { key: 'floodCpu', title: '20,000 chunks: CPU, % of one core' },
  { key: 'floodStallMs', title: '20,000 chunks: longest time without a frame, ms' },
  { key: 'floodRssMb', title: '20,000 chunks: peak RSS, MB' },
  { key: 'resumeMs', title: '5,000 messages resumed: ms' },
  { key: 'resumeRssMb', title: '5,000 messages resumed: peak RSS, MB' },
]

const MARKS: Readonly<Record<string, Mark>> = {
  firstFrameMs: { floor: NODE.name, above: true, most: 30 },
  idleCpu: { most: 0 },
  floodFps: { most: 30 },
  floodCpu: { most: 100 },
}

interface Chat extends ScreenProgram {
  name: string
  ready: RegExp
  /** The number of first frames to measure. */
  rounds: number
  /** Whether a failure of this chat is recorded and the others go on; otherwise it ends the suite. */
  mayFail?: boolean
}

/** Measures the chat on a terminal, beside those of the peers and Node alone. */
export async function tui(setting: Setting): Promise<SuiteResult> {
  const { binary, rounds, cwd, env, peers } = setting
  await using _daemon = await startDaemon(setting)
  const served: Chat = {
    name: 'crabtalk chat, through a daemon',
    command: binary,
    args: ['chat', '--new', '--model', 'loopback-openai'],
    env,
    cwd,
    ready: /Ask anything/,
    rounds,
  }
  const alone = { ...served, name: 'crabtalk chat, in process', env: { ...env, CRABTALK_NO_DAEMON: '1' } }
  const ours = [alone, served]
  const others = peers.map(({ name, command, env, chat }): Chat => {
    return { name, command, env, cwd, rounds: Math.min(rounds, PEER_ROUNDS), mayFail: true, ...chat }
  })
  const failures = new Map<Chat, string>()
  const frames = await firstFrames([...ours, ...others], { rounds, failures })
  const lines: Line[] = [{ name: NODE.name, values: { firstFrameMs: median(frames.get(NODE.name)!) } }]
  const long = await longConversation(setting, { messages: 5000, lastWord: LAST_WORD })
  for (const chat of [...ours, ...others]) {
    const firstFrameMs = median(frames.get(chat.name)!)
    const isOurs = ours.includes(chat)
    const more = isOurs ? { ...(await flood(chat)), ...(await resume(chat, long)) } : {}
    const values = { firstFrameMs, ...(await orFailure(chat, failures, () => echoes(chat))), ...more }
    const failure = failures.get(chat)
    lines.push({ name: chat.name, values, failure, ...(isOurs && { marks: MARKS }) })
  }
  return { columns: COLUMNS, lines }
}

/** The maximum rounds of peers, because they take seconds. */
const PEER_ROUNDS = 5

/** Returns undefined, and records the reason, when a chat that may fail cannot be measured, now or before. */
async function orFailure<T>(
  chat: Chat,
  failures: Map<Chat, string>,
  measure: () => Promise<T>,
): Promise<T | undefined> {
  if (failures.has(chat)) return undefined
  try {
    return await measure()
  } catch (reason) {
    if (!chat.mayFail) throw reason
    failures.set(chat, toFailure(reason))
    return undefined
  }
}

/** Measures, in turn, the times from the start to a prompt on the screen, and of Node to its end. */
async function firstFrames(
  chats: readonly Chat[],
  { rounds, failures }: { rounds: number; failures: Map<Chat, string> },
): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>([NODE, ...chats].map(({ name }) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    await using node = openScreen({ ...NODE, env: {}, cwd: chats[0]!.cwd })
    const bare = (await node.ended) - node.startedAt
    if (round >= 0) times.get(NODE.name)!.push(bare)
    for (const chat of chats.filter((one) => round < one.rounds)) {
      const took = await orFailure(chat, failures, () => firstFrame(chat))
      if (round >= 0 && took !== undefined) times.get(chat.name)!.push(took)
    }
  }
  return times
}

async function firstFrame(chat: Chat): Promise<number> {
  await using screen = openScreen(chat)
  return (await screen.shows(chat.ready)) - screen.startedAt
}

/**
 * Measures key echoes while nothing else happens and while an answer streams, and the CPU time of an idle
 * chat.
 */
async function echoes(chat: Chat): Promise<Record<string, number>> {
  await using screen = openScreen(chat)
  await screen.shows(chat.ready)
  await settled(screen, SETTLE_MS)
  const idle = await keyEchoes(screen, KEYS)
  await settled(screen, SETTLE_MS)
  const cpu = readProcessCpu(screen.pid)
  await sleep(IDLE_MS)
  const idleCpu = ((readProcessCpu(screen.pid) - cpu) / IDLE_MS) * 100
  await say(screen, `drip ${(KEYS * 100) / 10} 10`)
  await screen.shows(/word\d/)
  const busy = await keyEchoes(screen, KEYS)
  return {
    echoP50: median(idle),
    echoP99: quantile(idle, 0.99),
    busyEchoP50: median(busy),
    busyEchoP99: quantile(busy, 0.99),
    idleCpu,
  }
}

const KEYS = 100
const SETTLE_MS = 700
const IDLE_MS = 10_000

/**
 * Types a text and sends it once it is on the screen: some programs treat input that arrives in one piece as a
 * paste.
 */
async function say(screen: ReturnType<typeof openScreen>, text: string): Promise<void> {
  screen.type(text)
  await screen.shows(new RegExp(text))
  await sleep(SETTLE_MS)
  screen.type('\r')
}

/** Measures 20,000 chunks, sent as fast as possible. */
async function flood(chat: Chat): Promise<Record<string, number>> {
  await using screen = openScreen(chat)
  await screen.shows(chat.ready)
  await settled(screen, SETTLE_MS)
  await say(screen, 'flood 20000')
  const begin = performance.now()
  const cpu = readProcessCpu(screen.pid)
  const end = await screen.shows(new RegExp(END))
  const took = end - begin
  const frames = screen.writes.flatMap(({ at, bytes }) =>
    at < begin || at > end
      ? []
      : bytes
          .split(FRAME)
          .slice(1)
          .map(() => at),
  )
  return {
    floodMs: took,
    floodFrames: frames.length,
    floodFps: mostWithin(frames, 1000),
    floodCpu: ((readProcessCpu(screen.pid) - cpu) / took) * 100,
    floodStallMs: longestGap([begin, ...frames]),
    floodRssMb: readPeakMb(screen.pid),
  }
}

/** The start of a synchronized update. */
const FRAME = '\x1b[?2026h'

const LAST_WORD = 'the last of many words'

/**
 * Measures a conversation of 5,000 messages, from the start of the program until its last message is visible.
 */
async function resume(chat: Chat, id: string): Promise<Record<string, number>> {
  const args = ['chat', '--resume', id, '--model', 'loopback-openai']
  await using screen = openScreen({ ...chat, args })
  const at = await screen.shows(new RegExp(LAST_WORD))
  return { resumeMs: at - screen.startedAt, resumeRssMb: readPeakMb(screen.pid) }
}
