import { test } from 'node:test'
import type { StreamEvent } from '../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../src/core/protocol/dispatch.ts'
import { openCard } from '../../src/tui/cards/card.ts'
import { initInstructions } from '../../src/tui/slash/init.ts'
import { showQueue } from '../../src/tui/slash/queue.ts'
import type { ChatAction } from '../../src/tui/state/actions.ts'
import { initialState } from '../../src/tui/state/initial.ts'
import { reduce } from '../../src/tui/state/reduce.ts'
import type { ChatState } from '../../src/tui/state/types.ts'
import type { Block, ToolRun } from '../../src/tui/view/blocks.ts'
import { after, CHAT_OPTIONS, chunk, textEnd, textStart } from '../support/chat-state.ts'
import { GOLDEN_ASKS } from '../support/golden-asks.ts'
import { GOLDEN_CWD, GOLDEN_NOW } from '../support/golden-facts.ts'
import { assertGoldenPager, assertGoldenView } from '../support/golden-frame.ts'
import { createSlashChat } from './slash/slash-chat.ts'

type Event = NonNullable<StreamEvent['event']>

const IDLE: ChatState = {
  ...initialState({ ...CHAT_OPTIONS, model: 'opus-5.5', sender: 'sh:1' }),
  ...{ place: 'daemon', branch: 'main', title: 'Refuse NaN in add()', session: 'here' },
}

const BUSY = act(IDLE, {
  type: 'message-sent',
  text: 'fix the failing test',
  files: [],
  now: GOLDEN_NOW - 12_000,
})

const CALLS = toolStart(
  ['r1', 'read', { path: 'src/util.ts' }],
  ['r2', 'read', { path: 'src/x.ts' }],
  ['b1', 'bash', { command: 'npm test -- --test-name-pattern "add() refuses NaN"' }],
)

const ANSWER = `The test fails because \`add\` **accepts NaN**:

| file | line | what |
| :-- | --: | :-- |
| src/util.ts | 4 | adds without a check |

\`\`\`ts
export function add(a: number, b: number): number {
\`\`\`

1. refuse it,
2. then `

/** A running turn, and messages that wait for it. */
const LIVE: Readonly<Record<string, ChatState>> = {
  'live-thinking': BUSY,
  'live-writing': after(BUSY, [textStart, chunk(ANSWER)]),
  'live-tools': after(BUSY, [
    ...[
      textStart,
      chunk('Let me look.'),
      textEnd,
      CALLS,
      toolResult('r1', '5 lines'),
      toolResult('r2', '1 line'),
    ],
    progress('b1', '✔ add() adds\n✖ add() refuses NaN\n  AssertionError: Missing expected exception'),
  ]),
  'live-waiting': act(
    after(BUSY, [CALLS]),
    { type: 'steering', text: 'and the same for mul()' },
    ...[
      'then run the linter',
      'and commit it',
      'with a long message that says what was changed, and why',
      'push',
    ].map((text) => ({ type: 'queued', text }) as const),
  ),
  'live-stopping': act(after(BUSY, [CALLS]), { type: 'cancelling' }),
  'live-shell': { ...IDLE, shellOutput: 'added 214 packages in 3 s\n12 packages are looking for funding' },
}

/** The states of the line at the bottom, and of the one above it. */
const STATUS: Readonly<Record<string, ChatState>> = {
  'status-full': {
    ...IDLE,
    ...{ mode: 'edits', effort: 'high', followers: 2 },
    usage: { ...IDLE.usage, last: usage(171_000), context: 200_000, usd: 1.24, turns: 3 },
    servers: new Map([
      ['github', 'connected'],
      ['postgres', 'failed'],
    ]),
    running: [{ agent: 'crab', sender: 'sh:2', runId: 'r2', name: 'Deploy the staging server' }],
  },
  'status-elsewhere': {
    ...IDLE,
    asks: [openCard(GOLDEN_ASKS.run, { agent: 'crab', sender: 'night' })],
    running: [{ agent: 'crab', sender: 'night', runId: 'r2', name: 'Deploy the staging server' }],
  },
  'status-lost': { ...IDLE, isLinkLost: true },
  'status-all': { ...IDLE, mode: 'all', hint: 'Everything is allowed already; Shift+Tab ends it' },
  'status-hint': { ...IDLE, hint: 'In the background: /agents, or Left in an empty prompt, leads back' },
}

/** The blocks that are printed above the composer. */
const PRINTED: Readonly<Record<string, readonly Block[]>> = {
  'printed-welcome': [
    {
      ...{ kind: 'welcome', agent: 'crab', model: 'opus-5.5', cwd: '~/web (main)', version: '0.1.0' },
      hint: '/help for commands, Ctrl+C twice to leave',
    },
    { kind: 'user', text: 'fix the failing test', how: 'sent', files: [] },
    { kind: 'user', text: 'and the same for mul()', how: 'steered', files: ['screen.png'] },
    { kind: 'user', text: 'from another window', how: 'received', files: [] },
  ],
  'printed-tools': [
    { kind: 'answer', agent: 'crab', text: 'Let me look.', isFirst: true, continues: false },
    {
      kind: 'look-ups',
      tools: [tool('read', { path: 'src/util.ts' }), tool('read', { path: 'src/x.ts' })],
      follows: false,
    },
    {
      kind: 'look-ups',
      tools: [tool('grep', { pattern: 'isFinite' }, 'src/x.ts:1:x\nsrc/util.ts:5:y')],
      follows: true,
    },
    { kind: 'tool', tool: failedRun(), follows: true },
    {
      kind: 'tool',
      tool: { ...tool('edit', { path: 'src/util.ts' }, 'edited'), diff: makeDiff() },
      follows: true,
    },
    { kind: 'tool', tool: { ...tool('bash', { command: 'git push' }), state: 'skipped' }, follows: true },
    { kind: 'answer', agent: 'crab', text: 'Fixed: `add` now refuses NaN.', isFirst: true, continues: false },
    { kind: 'turn-end', ms: 12_400, usd: 0.042 },
  ],
  'printed-notices': [
    { kind: 'notice', tone: 'info', text: 'Interrupted' },
    { kind: 'notice', tone: 'success', text: 'Renamed to "Refuse NaN"' },
    { kind: 'notice', tone: 'warning', text: 'Unknown command /confg', hint: 'did you mean /config?' },
    {
      ...{ kind: 'notice', tone: 'error', text: 'Cannot call opus-5.5: Incorrect API key provided (401)' },
      hint: 'replace it: /connect',
    },
    { kind: 'answered', question: 'Which column should the index cover?', answer: 'created_at' },
    { kind: 'thinking', text: 'The test expects an exception.', isFirst: true },
    { kind: 'rule', text: 'continued: Refuse NaN in add() · /new starts over' },
  ],
}

const COLORED: ReadonlySet<string> = new Set([
  'live-writing',
  'printed-tools',
  'printed-welcome',
  'status-full',
])

const VIEWS = {
  ...LIVE,
  ...STATUS,
  ...Object.fromEntries(Object.entries(PRINTED).map(([name, blocks]) => [name, print(IDLE, blocks)])),
}

for (const [name, state] of Object.entries(VIEWS)) {
  test(`the chat looks as in golden/chat/views/${name}.txt`, async () => {
    await assertGoldenView(name, state, { hasColors: COLORED.has(name) })
  })
}

for (const [name, ...keys] of [['pager'], ['pager-search', '/', 'N', 'a']] as const) {
  test(`the viewer looks as in golden/chat/views/${name}.txt`, async () => {
    await assertGoldenPager(name, [...PRINTED['printed-welcome']!, ...PRINTED['printed-tools']!], keys)
  })
}

test('/queue looks as in golden/chat/views/queue.txt', async () => {
  const chat = createSlashChat(route({}))
  const texts = ['then run the linter', 'and commit it with a message that says what was changed, and why']
  for (const text of texts) chat.context.act({ type: 'queued', text })
  showQueue('', chat.context)
  const { queue, overlay } = chat.state()
  await assertGoldenView('queue', { ...BUSY, finished: [], queue, overlay })
})

test('/init looks as in golden/chat/views/init.txt', async () => {
  const chat = createSlashChat(route({}))
  const ports = { ...chat.context.ports, hasFile: async (name: string) => name === 'AGENTS.md' }
  await initInstructions('', { ...chat.context, ports })
  await assertGoldenView('init', { ...IDLE, overlay: chat.state().overlay })
})

function act(state: ChatState, ...actions: readonly ChatAction[]): ChatState {
  return actions.reduce(reduce, state)
}

function print(state: ChatState, blocks: readonly Block[]): ChatState {
  return act(state, ...blocks.map((block) => ({ type: 'print', block }) as const))
}

function usage(promptTokens: number) {
  return { promptTokens, completionTokens: 0, totalTokens: promptTokens }
}

function toolStart(...calls: readonly (readonly [callId: string, name: string, args: object])[]): Event {
  const value = {
    calls: calls.map(([callId, name, args]) => ({
      callId,
      name,
      arguments: JSON.stringify(args),
      server: '',
    })),
  }
  return { $case: 'toolStart', value }
}

function toolResult(callId: string, output: string): Event {
  return { $case: 'toolResult', value: { callId, output, durationMs: 5, isError: false, denial: undefined } }
}

function progress(callId: string, message: string): Event {
  return { $case: 'toolProgress', value: { callId, message, progress: 0 } }
}

function tool(name: string, args: object, output = 'one\ntwo\nthree'): ToolRun {
  return {
    ...{
      callId: name,
      name,
      server: '',
      arguments: JSON.stringify(args),
      state: 'done',
      progress: '',
      output,
    },
    ...{ durationMs: 5, denial: undefined, diff: '' },
  }
}

function failedRun(): ToolRun {
  const passed = Array.from({ length: 20 }, (_, at) => `✔ test ${at}`).join('\n')
  const output = `${passed}\n✖ add() refuses NaN\n  AssertionError: Missing expected exception\n    at ${GOLDEN_CWD}/util.test.ts:8:10\n${passed}\n[exit code 1]`
  return { ...tool('bash', { command: 'npm test' }, output), state: 'failed', durationMs: 2_100 }
}

function makeDiff(): string {
  return `--- src/util.ts\n+++ src/util.ts\n@@ -3,3 +3,4 @@\n /** Adds two numbers. */\n-export function add(a: number, b: number) {\n+export function add(a: number, b: number): number {\n+  if (!Number.isFinite(a)) throw new RangeError("not a number")\n   return a + b\n`
}
