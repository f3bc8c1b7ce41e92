import { test } from 'node:test'
import type { StreamEvent } from '../../src/core/protocol/crabtalk.generated.ts'
import { press } from '../../src/tui/controller/press.ts'
import { initialState } from '../../src/tui/state/initial.ts'
import { reduce } from '../../src/tui/state/reduce.ts'
import type { ChatState } from '../../src/tui/state/types.ts'
import { withSent } from '../../src/tui/text/prompt-state.ts'
import { after, CHAT_OPTIONS, chunk, textEnd, textStart } from '../support/chat-state.ts'
import { GOLDEN_ASKS } from '../support/golden-asks.ts'
import { GOLDEN_NOW } from '../support/golden-facts.ts'
import { assertGoldenView } from '../support/golden-frame.ts'
import { key } from './cards/card-fixtures.ts'

type Event = NonNullable<StreamEvent['event']>
type AskName = keyof typeof GOLDEN_ASKS

/** A card: its name, its question, and the keys, each after a pause. */
type Card = readonly [name: string, ask: AskName, ...keys: string[]]

const CARDS: readonly Card[] = [
  ['card-run', 'run'],
  ['card-run-chosen', 'run', '2'],
  ['card-run-details', 'run', '?'],
  ['card-run-edited', 'run', 'tab'],
  ['card-run-reason', 'run', '5', 'enter', 'type:it takes too long'],
  ['card-run-message', 'run', 'type:use the small suite'],
  ['card-commands', 'commands'],
  ['card-risk', 'risk'],
  ['card-edit', 'edit'],
  ['card-edit-changed', 'edit', 'tab'],
  ['card-write', 'write', '1'],
  ['card-write-page', 'write', 'page-down'],
  ['card-tool', 'tool'],
  ['card-plan', 'plan'],
  ['card-plan-change', 'plan', '3', 'enter', 'type:also div()'],
  ['card-question', 'question', 'down'],
  ['card-question-words', 'question', '3', 'enter', 'type:both of them'],
  ['card-questions', 'questions', '1', 'enter', '2', 'enter'],
  ['card-questions-text', 'questions', '1', 'enter', '4', 'enter'],
  ['card-trust', 'trust'],
  ['card-server', 'server'],
]

const COLORED: ReadonlySet<string> = new Set(['card-commands', 'card-edit', 'card-plan', 'card-question'])

for (const [name, ask, ...keys] of CARDS) {
  test(`the card of ${ask} after ${keys.join(', ') || 'a moment'} looks as in golden/chat/views/${name}.txt`, async () => {
    const state = keys.reduce(pressCard, askState(GOLDEN_ASKS[ask]))
    await assertGoldenView(name, state, { hasColors: COLORED.has(name) })
  })
}

test('a card that has just appeared looks as in golden/chat/views/card-new.txt', async () => {
  const state = askState(GOLDEN_ASKS.run)
  await assertGoldenView('card-new', reduce(state, { type: 'card-armed', askId: undefined }))
})

for (const rows of [24, 16, 10]) {
  test(`the card of a change fits ${rows} rows as in golden/chat/views/card-edit-${rows}-rows.txt`, async () => {
    await assertGoldenView(`card-edit-${rows}-rows`, askState(GOLDEN_ASKS.edit), { rows })
  })
}

/** A turn that has read a file, said a sentence, and asks. */
function askState(ask: (typeof GOLDEN_ASKS)[AskName]): ChatState {
  const name = ask.permission?.tool ?? (ask === GOLDEN_ASKS.plan ? 'present_plan' : 'ask_user')
  const call = { callId: 'c1', name, arguments: ask.permission?.arguments ?? '{}', server: '' }
  const events: Event[] = [
    ...[textStart, chunk('Let me look.'), textEnd],
    { $case: 'toolStart', value: { calls: [call] } },
    { $case: 'askUser', value: ask },
  ]
  return armed(after(runningState(), events))
}

function runningState(): ChatState {
  const options = { ...CHAT_OPTIONS, model: 'opus-5.5', sender: 'sh:1' }
  const idle: ChatState = { ...initialState(options), place: 'daemon', branch: 'main' }
  return reduce(idle, {
    type: 'message-sent',
    text: 'add() accepts NaN',
    files: [],
    now: GOLDEN_NOW - 12_000,
  })
}

function armed(state: ChatState): ChatState {
  return reduce(state, { type: 'card-armed', askId: state.asks[0]?.askId })
}

/** Returns the state after a key that came after a pause. */
function pressCard(state: ChatState, text: string): ChatState {
  const keys = text.startsWith('type:') ? [...text.slice(5)] : [text]
  return keys.reduce((before, one) => {
    const around = {
      ...{ prompt: { isBusy: true, columns: 80 }, room: { columns: 80, rows: 30 } },
      ...{ promptRows: 1, isAlone: true },
    }
    const { actions, effects } = press(before, [key(one)], around)
    const inserted = effects.flatMap((effect) => (effect.type === 'insert' ? [effect.text] : []))
    return armed(inserted.reduce(withDraft, actions.reduce(reduce, before)))
  }, state)
}

function withDraft(state: ChatState, text: string): ChatState {
  return reduce(state, { type: 'set', change: { prompt: withSent(state.prompt, text) } })
}
