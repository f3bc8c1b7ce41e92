import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertPicture, LIGHT_TERMINAL, PICTURE_TERMINAL } from '../support/chat-picture.ts'
import { openChat, type Session } from '../support/chat-session.ts'
import { chooseDigit, TAKES_DIGITS } from '../support/choose-digit.ts'
import type { Script } from '../support/model-server.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk } from '../support/talk.ts'

const SIZE = { columns: 88, rows: 34 }

test('draws the start of the chat', async () => {
  await using project = await openProject([])
  await using chat = project.open()
  await chat.shows('opus-5.5 · ~/proj (main)')
  await project.picture('chat-start', 'The chat after it was started', chat)
})

test('draws a turn with tools', async () => {
  await using project = await openProject(TURN)
  await using chat = project.open(['chat', '--allow', 'bash(./run-tests)', '--allow', 'edit(**)'])
  await send(chat, 'fix the failing test', 'now refuses NaN')
  await project.picture('chat-turn', 'A turn that reads, searches, runs tests and changes a file', chat)
})

test('draws the card of a change, and a resumed conversation', async () => {
  await using project = await openProject([
    { parts: [call('read', { path: 'src/util.ts' })], usage: USAGE },
    { parts: [call('edit', EDIT)], usage: USAGE },
    { parts: [FIXED], usage: USAGE },
  ])
  await using first = project.open()
  await first.shows('opus-5.5')
  first.type('refuse NaN')
  first.press('enter')
  await first.shows(TAKES_DIGITS)
  await project.picture('chat-card', 'A card that asks whether a file may be changed', first)
  await chooseDigit(first, '1')
  await isIdle(first, 'now refuses NaN')
  await leave(first)
  await using second = project.open()
  await isIdle(second, 'now refuses NaN')
  await second.shows('opus-5.5')
  await project.picture('chat-resume', 'The conversation in a new window', second)
})

test('draws a turn on a light terminal', async () => {
  await using project = await openProject(TURN, { isLight: true })
  await using chat = project.open(['chat', '--allow', 'bash(./run-tests)', '--allow', 'edit(**)'])
  await send(chat, 'fix the failing test', 'now refuses NaN')
  await project.picture('chat-light', 'The same turn on a light terminal', chat)
})

test('draws the card of a plan', async () => {
  await using project = await openProject([
    { parts: [call('read', { path: 'src/util.ts' })], usage: USAGE },
    { parts: [call('present_plan', { plan: PLAN })], usage: USAGE },
    { parts: ['Nothing was changed.'], usage: USAGE },
  ])
  await using chat = project.open(['chat', '--mode', 'plan'])
  await chat.shows('opus-5.5')
  chat.type('make add() refuse NaN')
  chat.press('enter')
  await chat.shows(TAKES_DIGITS)
  await project.picture('chat-plan', 'A plan that waits for its acceptance', chat)
})

test('draws what all agents do', async () => {
  const gate = Promise.withResolvers<void>()
  await using project = await openProject(({ text }) =>
    text.includes('bad commit')
      ? { parts: ['Walking the history: 12 of 214 commits', gate.promise] }
      : text.includes('deploy')
        ? { parts: [call('bash', { command: './deploy staging' })] }
        : { parts: ['It exports one function, add().'], usage: USAGE },
  )
  await using _daemon = await project.startDaemon()
  await using chat = project.open(['chat'], WITH_DAEMON)
  await chat.shows('opus-5.5')
  for (const [text, shown, other] of [
    ['find the first bad commit', 'Walking the history', '1 running'],
    ['deploy the staging server', 'Run a command', 'crab asks in "deploy the staging server"'],
  ] as const) {
    chat.type(text)
    await chat.shows(`> ${text}`)
    chat.press('enter')
    await chat.shows(shown)
    chat.type('/background\r')
    await chat.shows(other)
    await chat.shows('> Ask anything')
  }
  await send(chat, 'what does src/util.ts export?', 'It exports one function')
  chat.press('left')
  await chat.shows('Agents: 1 asking · 1 running')
  await project.picture('chat-agents', 'What all agents do: one asks, one runs', chat)
  gate.resolve()
})

test('draws a question with choices', async () => {
  await using project = await openProject([{ parts: [call('ask_user', QUESTION)] }, { parts: ['Done.'] }])
  await using chat = project.open()
  await chat.shows('opus-5.5')
  chat.type('add an index')
  chat.press('enter')
  await chat.shows(TAKES_DIGITS)
  await project.picture('chat-question', 'A question of the agent with its choices', chat)
})

/** A project on the branch main, in the home directory of a user, and a model that follows a script. */
async function openProject(script: Script, { isLight = false } = {}) {
  const talk = await makeTalk(script, toConfig)
  const cwd = join(talk.cwd, 'proj')
  await mkdir(join(cwd, '.git'), { recursive: true })
  await mkdir(join(cwd, 'src'))
  await writeFile(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(cwd, name), text)
  await chmod(join(cwd, 'run-tests'), 0o755)
  const env = { ...(isLight ? LIGHT_TERMINAL : PICTURE_TERMINAL), HOME: talk.cwd }
  const { columns } = SIZE
  return {
    open: (args: readonly string[] = ['chat'], more: Readonly<Record<string, undefined>> = {}) =>
      openChat(talk, args, { ...SIZE, env: { ...env, ...more }, cwd }),
    startDaemon: () => startSandboxDaemon(talk),
    picture: (name: string, title: string, { screen }: Session) =>
      assertPicture(name, { lines: screen.styled(), cwd, columns, title, isLight }),
    [Symbol.asyncDispose]: () => talk[Symbol.asyncDispose](),
  }
}

function toConfig(url: string): string {
  return `[[providers]]
name = "test"
kind = "openai-compatible"
base_url = "${url}"
models = [{ name = "opus-5.5", context = 200000, input_usd = 0.4, output_usd = 2 }]

[tui]
status = ["agent", "model", "others", "title", "context", "directory"]
`
}

async function send(chat: Session, text: string, answer: string): Promise<void> {
  await chat.shows('opus-5.5')
  chat.type(text)
  chat.press('enter')
  await isIdle(chat, answer)
}

async function isIdle(chat: Session, answer: string): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    const isWorking = lines.some((line) => /^[⠁-⣿] /.test(line))
    const isFree = lines.some((line) => line.startsWith('> Ask anything'))
    return !isWorking && isFree && lines.some((line) => line.includes(answer))
  })
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  await chat.finished
}

function call(name: string, args: object) {
  return { call: `${name} ${JSON.stringify(args)}`, name, args: JSON.stringify(args) }
}

const USAGE = { input: 31_000, output: 900 }
const FIXED = 'Fixed: `add` now refuses NaN.'

const PLAN = `Make \`add\` refuse NaN, and test it.

1. Change \`src/util.ts\`: throw a RangeError before adding.
2. Add a test:

\`\`\`ts
assert.throws(() => add(Number.NaN, 1), RangeError)
\`\`\`

3. Run \`./run-tests\`.`

const EDIT = {
  path: 'src/util.ts',
  edits: [
    {
      old: 'export function add(a: number, b: number) {',
      new: 'export function add(a: number, b: number): number {\n  if (!Number.isFinite(a)) throw new RangeError("not a number")',
    },
  ],
}

const TURN: Script = [
  {
    parts: [
      'Let me look.',
      ...['src/util.ts', 'src/x.ts', 'src/util.test.ts'].map((path) => call('read', { path })),
      call('grep', { pattern: 'isFinite' }),
    ],
    usage: USAGE,
  },
  { parts: [call('bash', { command: './run-tests' })], usage: USAGE },
  { parts: [call('edit', EDIT)], usage: USAGE },
  { parts: [FIXED], usage: USAGE },
]

const QUESTION = {
  questions: [
    {
      question: 'Which column should the index cover?',
      header: 'Index',
      options: [
        { label: 'created_at', description: 'the list of orders is sorted by it' },
        { label: 'customer, created_at', description: 'the same for one customer' },
      ],
    },
  ],
}

const FILES: Readonly<Record<string, string>> = {
  'src/util.ts': `// arithmetic

/** Adds two numbers. */
export function add(a: number, b: number) {
  return a + b
}
`,
  'src/x.ts': 'export const x = Number.isFinite(1)\n',
  'src/util.test.ts': "import { add } from './util.ts'\n",
  'run-tests': `#!/bin/sh
for n in 1 2 3 4 5 6 7 8; do echo "✔ test $n"; done
echo '✖ add() refuses NaN'
echo '  AssertionError: Missing expected exception'
echo '    at src/util.test.ts:8:10'
for n in 1 2 3 4 5 6 7 8 9; do echo "✔ test 1$n"; done
exit 1
`,
}
