import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskKind, AskUserEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import type { KeyPress } from '../../../src/tui/text/key.ts'
import { ACCIDENTS, type Stroke } from '../../support/accident-corpus.ts'
import { CHAT_OPTIONS } from '../../support/chat-state.ts'
import { openControlled } from '../../support/controlled-chat.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const HERE = { agent: CHAT_OPTIONS.agent, sender: CHAT_OPTIONS.sender }
const ELSEWHERE = { ...HERE, sender: 'night' }
const LABELS = ['Allow once', 'Allow in this conversation', 'Always allow', 'Deny']
const PERMISSION = AskUserEvent.fromPartial({
  askId: 'p',
  kind: AskKind.PERMISSION,
  questions: [{ question: 'Allow it?', options: LABELS.map((label) => ({ label })) }],
  permission: {
    tool: 'bash',
    action: 'bash: rm -rf build',
    reason: 'no rule',
    rules: ['bash(rm *)'],
    arguments: '{"command":"rm -rf build"}',
    editable: true,
  },
})
const FORM = AskUserEvent.fromPartial({
  askId: 'f',
  kind: AskKind.QUESTION,
  questions: [{ question: 'Which?', options: [{ label: 'yes' }, { label: 'no' }] }],
})

const PLAN = AskUserEvent.fromPartial({
  askId: 'plan',
  kind: AskKind.PLAN,
  questions: [
    { question: '# Plan', options: ['No', 'Accept', 'Accept and allow edits'].map((label) => ({ label })) },
  ],
})

/** Whether every moment and pace is tried, as in the nightly run. */
const IS_WHOLE = propertyRuns(2, 1) > 1

/** Milliseconds between two keys, at 400, 120 and 40 words of five letters a minute, and of a very slow typist. */
const PACES = IS_WHOLE ? [30, 100, 300, 590] : [30, 100, 300]
/** A question that opens long before the first key. */
const BEFORE = -1

/**
 * Returns the numbers of keys typed when the question opens: every one in the nightly run, otherwise the first ones
 * and another one for each input.
 */
function pickMoments(keys: number, input: number): readonly number[] {
  const all = [BEFORE, ...Array.from({ length: keys }, (_, at) => at)]
  if (IS_WHOLE) return all
  return [...new Set([BEFORE, 1, all[input % all.length]!])].filter((at) => at < keys)
}

for (const [what, ask] of [
  ['a permission', PERMISSION],
  ['a form', FORM],
  ['a plan', PLAN],
] as const) {
  for (const [where, pair] of [
    ['here', HERE],
    ['elsewhere', ELSEWHERE],
  ] as const) {
    test(`typed text does not answer ${what} that opens ${where}, only a digit and Enter do, and none of it is lost`, () => {
      for (const [input, strokes] of ACCIDENTS.entries()) {
        for (const pace of PACES) {
          for (const moment of pickMoments(strokes.flatMap(toKeys).length, input)) {
            const { isAnswered, reached } = type(strokes, { ask, pair, pace, moment })
            const scenario = `${JSON.stringify(strokes)} at ${pace} ms, question at key ${moment}`
            const chosen = pair === HERE && moment === BEFORE ? findChosen(strokes, ask) : undefined
            assert.equal(isAnswered, chosen === 'answer', scenario)
            for (const text of chosen ? [] : findTexts(strokes))
              assert.ok(reached.includes(text), `${scenario}: "${reached}" lacks "${text}"`)
          }
        }
      }
    })
  }
}

test('the corpus has more than 300 inputs', () => assert.ok(ACCIDENTS.length > 300, `${ACCIDENTS.length}`))

/**
 * Types while a card opens; returns whether a card was answered, and all text that was sent or is still in the
 * composer.
 */
function type(
  strokes: readonly Stroke[],
  { ask, pair, pace, moment }: { ask: AskUserEvent; pair: typeof HERE; pace: number; moment: number },
): { isAnswered: boolean; reached: string } {
  using chat = openControlled()
  const { store, clock, controller, sent } = chat
  store.act({ type: 'turn-started', runId: 'r', now: 0 })
  // a `stream` action would show the card after 50 ms of real time only
  const open = () =>
    store.act({ type: 'ask-opened', ask: { ...pair, session: '', runId: '', openedAt: '', ask } })
  if (moment < 0) {
    open()
    clock.advance(60_000)
  }
  for (const [at, key] of strokes.flatMap(toKeys).entries()) {
    if (at === moment) open()
    controller.keys([key])
    clock.advance(pace)
  }
  clock.advance(60_000)
  const { queue, steers, prompt, asks } = store.get()
  const pasted = prompt.pastes instanceof Map ? [...prompt.pastes.values()] : []
  const selected = asks.map(({ state }) => state.pick.typed) // a digit on the card, until more is typed
  const reached = [
    ...sent,
    ...queue,
    ...steers.map(({ text }) => text),
    ...selected,
    prompt.text,
    ...pasted,
  ].join('\n')
  return { isAnswered: asks.some((card) => card.isAnswered), reached }
}

/**
 * Returns what an input does on a question that has been on the screen for long: a digit and Enter, with a pause before
 * them, answer it or choose to type the answer. Whether they were meant as a message cannot be told.
 */
function findChosen([text, ...rest]: readonly Stroke[], ask: AskUserEvent): Chosen | undefined {
  const areEnters = rest.every((one) => typeof one === 'object' && 'key' in one && one.key === 'enter')
  return areEnters && typeof text === 'string' ? CHOICES.get(ask)!.get(text) : undefined
}

type Chosen = 'answer' | 'words'

const CHOICES: ReadonlyMap<AskUserEvent, ReadonlyMap<string, Chosen>> = new Map([
  [
    PERMISSION,
    new Map(Object.entries<Chosen>({ 1: 'answer', 2: 'answer', 3: 'answer', 4: 'answer', 5: 'words' })),
  ],
  [FORM, new Map(Object.entries<Chosen>({ 1: 'answer', 2: 'answer', 3: 'words' }))],
  [PLAN, new Map(Object.entries<Chosen>({ 1: 'answer', 2: 'answer', 3: 'words', 4: 'answer' }))],
])

function toKeys(stroke: Stroke): KeyPress[] {
  const plain = { name: 'text', text: '', ctrl: false, alt: false, shift: false } as const
  if (typeof stroke === 'string') return [...stroke].map((text) => ({ ...plain, text }))
  if ('paste' in stroke) return [{ ...plain, name: 'paste', text: stroke.paste }]
  if ('ctrl' in stroke) return [{ ...plain, text: stroke.ctrl, ctrl: true }]
  return [{ ...plain, name: stroke.key }]
}

/** Returns the texts that must exist afterwards; none if a key deletes something. */
function findTexts(strokes: readonly Stroke[]): string[] {
  const deletes = strokes.some(
    (one) => typeof one === 'object' && (('key' in one && one.key === 'backspace') || 'ctrl' in one),
  )
  return deletes
    ? []
    : strokes
        .filter((one) => typeof one === 'string')
        .map((text) => text.replace(/^\?+/, '').trim())
        .filter((text) => !/^\?+$/.test(text))
}
