import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { followTerminal, type Session } from '../test/support/chat-session.ts'
import { chooseDigit } from '../test/support/choose-digit.ts'
import type { RecordedRequest, Reply } from '../test/support/model-server.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../test/support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../test/support/talk.ts'

// npm run recording -- [--out FILE]
// Plays a day in the chat of the built binary with a scripted model, and writes what its terminal showed as a
// recording of asciinema, version 2. The typing has the pace of a person, so it takes a minute and a half.
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(import.meta.dirname, '../docs/recordings/day.cast') } },
})
const SIZE = { columns: 96, rows: 30 }
const KEY_MS = 45
const READING_MS = 1_400
const MODEL = 'opus-5.5'

async function recordDay(out: string): Promise<void> {
  await using talk = await makeTalk(answer, toConfig)
  await using _daemon = await startSandboxDaemon(talk)
  const cwd = await makeProject(talk)
  const recording = new Recording()
  const open = (...args: string[]) => {
    const env = { ...TERMINAL, ...WITH_DAEMON, HOME: talk.cwd }
    const terminal = talk.terminal(args, { ...SIZE, env, cwd })
    terminal.onOutput((piece) => recording.add(piece))
    return followTerminal(terminal, SIZE)
  }
  {
    await using morning = open()
    await fixTest(morning)
    await planChange(morning)
    await doTwoThings(morning)
    await goBack(morning)
    await lookAround(morning)
    await leave(morning)
  }
  {
    await using evening = open()
    await evening.shows('continued')
    await read()
    await leave(evening)
  }
  await mkdir(dirname(out), { recursive: true })
  await writeFile(out, recording.text(talk.cwd))
  console.log(`recorded ${recording.seconds.toFixed(0)} s in ${out}`)
}

/** Reads, runs the tests, and changes a file after the card is answered. */
async function fixTest(chat: Session): Promise<void> {
  await chat.shows(MODEL)
  await read()
  await say(chat, 'the test of add() fails, fix it')
  await chat.shows('Edit src/util.js')
  await read()
  await chooseDigit(chat, '1')
  await chat.shows('now refuses NaN')
  await isIdle(chat)
  await read()
}

/** Shift+Tab twice, a plan, and its acceptance with edits. */
async function planChange(chat: Session): Promise<void> {
  chat.press('shift+tab')
  await chat.shows('edits')
  await read()
  chat.press('shift+tab')
  await chat.shows('plan')
  await read()
  await say(chat, 'and the same for mul()')
  await chat.shows('Yes, and allow edits')
  await read()
  await chooseDigit(chat, '2')
  await chat.shows('mul() too')
  await isIdle(chat)
  await read()
}

/** Puts a turn into the background, works in another conversation, and returns by the agents view. */
async function doTwoThings(chat: Session): Promise<void> {
  await say(chat, 'look through the whole history for the first bad commit')
  await chat.shows('Walking the history')
  chat.type('\u0002')
  await chat.shows('in the background')
  await chat.shows('new conversation')
  await read()
  await say(chat, 'what does src/util.js export?')
  await chat.shows('It exports')
  await isIdle(chat)
  await read()
  chat.press('left')
  await chat.shows('Agents:')
  await read()
  chat.press('enter')
  await chat.shows('first bad commit is')
  await isIdle(chat)
  await read()
}

/** Shows the changes of the conversation, and goes back before the second one. */
async function goBack(chat: Session): Promise<void> {
  await say(chat, '/diff')
  await chat.shows('file changed')
  await read()
  chat.type('q')
  await isIdle(chat)
  chat.press('esc')
  await chat.shows('Esc again')
  chat.press('esc')
  await chat.shows('› ')
  await read()
  chat.press('esc')
  await isIdle(chat)
}

async function lookAround(chat: Session): Promise<void> {
  await say(chat, '/context')
  await chat.shows(`Context of ${MODEL}`)
  await read()
  if (chat.screen.lines().some((line) => line.startsWith('> '))) return
  chat.type('q')
  await isIdle(chat)
}

async function say(chat: Session, text: string): Promise<void> {
  for (const char of text) {
    chat.type(char)
    await sleep(KEY_MS)
  }
  await sleep(KEY_MS * 4)
  chat.press('enter')
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  await chat.finished
}

async function read(): Promise<void> {
  await sleep(READING_MS)
}

async function isIdle(chat: Session): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    return (
      lines.some((line) => line.startsWith('> Ask anything')) &&
      !lines.some((line) => line.includes('esc to interrupt'))
    )
  })
}

/** Records what a terminal wrote, with the seconds since the start, in the format of asciinema. */
class Recording {
  readonly #start = performance.now()
  readonly #events: [seconds: number, piece: string][] = []

  get seconds(): number {
    return this.#events.at(-1)?.[0] ?? 0
  }

  add(piece: string): void {
    this.#events.push([Number(((performance.now() - this.#start) / 1_000).toFixed(3)), piece])
  }

  /** Returns the file. The home directory is replaced, so that no path of this machine is in it. */
  text(home: string): string {
    const head = {
      version: 2,
      width: SIZE.columns,
      height: SIZE.rows,
      idle_time_limit: 2,
      title: 'A day in the chat of crabtalk',
      env: { TERM: TERMINAL.TERM },
    }
    const lines = this.#events.map(([seconds, piece]) =>
      JSON.stringify([seconds, 'o', piece.replaceAll(home, '/home/ann')]),
    )
    return `${[JSON.stringify(head), ...lines].join('\n')}\n`
  }
}

const TERMINAL = {
  TERM: 'xterm-256color',
  TERM_PROGRAM: 'vscode',
  COLORTERM: 'truecolor',
  COLORFGBG: '15;0',
  NO_COLOR: '',
}

function toConfig(url: string): string {
  return `[[providers]]
name = "test"
kind = "openai-compatible"
base_url = "${url}"
models = [{ name = "${MODEL}", context = 200000, input_usd = 0.4, output_usd = 2 }]
`
}

async function makeProject(talk: Talk): Promise<string> {
  const cwd = join(talk.cwd, 'proj')
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true })
    await writeFile(join(cwd, path), text)
  }
  return cwd
}

const FILES: Readonly<Record<string, string>> = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  'src/util.js': `/** Adds two numbers. */
export function add(a, b) {
  return a + b
}

/** Multiplies two numbers. */
export function mul(a, b) {
  return a * b
}
`,
  'test/util.test.js': "import { add } from '../src/util.js'\n",
}

const PLAN = `# Refuse NaN in mul()

1. Throw a \`RangeError\` in \`mul\` as \`add\` does.
2. Run the tests.`

const USAGE = { input: 21_000, output: 700 }

/** Answers by the last message of the user, and by the number of tool results after it. */
function answer({ text }: RecordedRequest): Reply {
  const { messages } = JSON.parse(text) as { messages: { role: string; content: unknown }[] }
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const words = JSON.stringify(messages[last]?.content)
  const results = messages.slice(last + 1).filter(({ role }) => role === 'tool').length
  const replies = Object.entries(REPLIES).find(([start]) => words.includes(start))?.[1] ?? []
  const reply = replies.findLast(([after]) => after <= results)?.[1] ?? { parts: ['Fine.'] }
  return { usage: USAGE, paceMs: 60, ...reply }
}

const REPLIES: Readonly<Record<string, readonly (readonly [after: number, reply: Reply])[]>> = {
  'the test of add()': [
    [
      0,
      {
        parts: [
          'Let me ',
          'look.',
          call('read', { path: 'src/util.js' }),
          call('read', { path: 'test/util.test.js' }),
          call('grep', { pattern: 'add' }),
        ],
      },
    ],
    [3, { parts: [call('edit', guard('+'))] }],
    [4, { parts: ['Fixed: ', '`add` ', 'now refuses NaN ', 'with a `RangeError`.'] }],
  ],
  'the same for mul': [
    [0, { parts: [call('read', { path: 'src/util.js' })] }],
    [1, { parts: [call('present_plan', { plan: PLAN })] }],
    [2, { parts: [call('edit', guard('*'))] }],
    [3, { parts: ['Done: ', 'mul() too ', 'refuses NaN.'] }],
  ],
  'first bad commit': [
    [
      0,
      {
        parts: [
          'Walking the history',
          ...Array.from({ length: 150 }, () => '.'),
          ' the first bad commit is abc123.',
        ],
        paceMs: 80,
      },
    ],
  ],
  'what does src/util.js': [[0, { parts: ['It exports ', '`add(a, b)` ', 'and ', '`mul(a, b)`.'] }]],
}

function guard(sign: string) {
  const check = `  if (!Number.isFinite(a) || !Number.isFinite(b)) throw new RangeError('not a number')`
  return {
    path: 'src/util.js',
    edits: [{ old: `  return a ${sign} b`, new: `${check}\n  return a ${sign} b` }],
  }
}

function call(name: string, args: object) {
  return { call: `${name} ${JSON.stringify(args)}`, name, args: JSON.stringify(args) }
}

await recordDay(values.out)
