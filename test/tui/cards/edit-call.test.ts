import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { PermissionRequest } from '../../../src/core/protocol/crabtalk.generated.ts'
import { findEditableText } from '../../../src/core/questions/edit-call.ts'
import { armCard, isEditing } from '../../../src/tui/cards/card.ts'
import { press } from '../../../src/tui/controller/press.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
import type { ChatEffect } from '../../../src/tui/text/effects.ts'
import { fullPromptText, withSent } from '../../../src/tui/text/prompt-state.ts'
import { busyState } from '../../support/chat-state.ts'
import { CRAB, key, makeCardView, permissionCard, pressKeys, renderLines } from './card-fixtures.ts'

const BASH = {
  tool: 'bash',
  action: 'bash: npm test',
  arguments: '{"command":"npm test","timeout":5}',
  callId: 'c',
  editable: true,
}

test('Tab puts the command into the composer, and Enter after a pause runs the changed call', () => {
  const { state, effects } = play(['tab', ' ', '-', 'x', 'enter'])
  assert.deepEqual(effects, [
    {
      type: 'answer',
      askId: 'ask-1',
      answers: { 'Allow it?': PERMISSION_ANSWERS.once },
      arguments: '{"command":"npm test -x","timeout":5}',
    },
  ])
  assert.equal(fullPromptText(state.prompt), '')
})

test('Enter directly after typing runs nothing and says to press it again', () => {
  const { state, effects } = play(['tab', 'x', 'fast:enter'])
  assert.deepEqual([effects, state.hint], [[], 'Press Enter again to run it'])
  assert.equal(fullPromptText(state.prompt), 'npm testx')
  assert.equal(play(['tab', 'x', 'fast:enter', 'enter']).effects.length, 1)
})

test('a call that was not changed is allowed once, without arguments', () => {
  const [answer] = play(['tab', 'enter']).effects
  assert.deepEqual(answer, {
    type: 'answer',
    askId: 'ask-1',
    answers: { 'Allow it?': PERMISSION_ANSWERS.once },
  })
})

test('Esc returns to the choices and empties the composer; nothing is allowed', () => {
  const { state, effects } = play(['tab', 'x', 'escape', 'enter'])
  assert.deepEqual(
    effects.filter(({ type }) => type === 'answer'),
    [],
  )
  assert.equal(fullPromptText(state.prompt), '')
})

test('Tab edits only when the card was seen, no text is typed, and the daemon can change the call', () => {
  for (const keys of [['fast:tab'], ['x', 'tab'], ['fast:1', 'fast:tab']]) {
    assert.deepEqual(play(keys).state.asks[0]!.state.isWriting, false, keys.join())
  }
  for (const keys of [
    ['1', 'tab'],
    ['1', 'fast:tab'],
    ['2', 'fast:enter', 'fast:tab'],
    ['up', 'fast:tab'],
    ['1', 'backspace', 'fast:1', 'tab'],
  ]) {
    const { state, effects } = play(keys)
    assert.deepEqual(
      [state.asks[0]!.state.isWriting, fullPromptText(state.prompt)],
      [true, 'npm test'],
      keys.join(),
    )
    assert.deepEqual(effects, [])
  }
  const early = play(['fast:1', 'fast:tab']).state
  assert.deepEqual(
    [early.hint, fullPromptText(early.prompt), early.queue],
    ['Press Enter again to answer 1', '', []],
  )
  assert.equal(play(['tab'], { ...BASH, editable: false }).state.asks[0]!.state.isWriting, false)
})

test('Tab shows what was not on the screen yet first', () => {
  const long = { ...BASH, action: `bash: ${'echo x\n'.repeat(60)}rm -rf ~` }
  const { card } = pressKeys(permissionCard(long), ['tab'], makeCardView(80, 24))
  assert.equal(card.state.isWriting, false)
  const end = pressKeys(card, ['tab', 'tab', 'tab', 'tab', 'tab', 'tab', 'tab'], makeCardView(80, 24))
  assert.equal(end.card.state.isWriting, true)
})

test('the card says what is edited, and that Tab does', () => {
  assert.match(renderLines(permissionCard(BASH), 120).join('\n'), /Tab edit · \? details/)
  const { card } = pressKeys(permissionCard(BASH), ['tab'])
  assert.match(renderLines(card).join('\n'), /Edit the command below, Enter runs it · Esc back/)
})

for (const [tool, args, part, text, edited, result] of [
  ['bash', { command: 'ls' }, 'command', 'ls', 'ls -l\n', { command: 'ls -l' }],
  ['write', { path: 'a', content: 'x\n' }, 'content', 'x\n', 'y\n', { path: 'a', content: 'y\n' }],
  [
    'edit',
    { path: 'a', edits: [{ old: 'x', new: 'y' }] },
    'new text',
    'y',
    'z',
    { path: 'a', edits: [{ old: 'x', new: 'z' }] },
  ],
  ['edit', { edits: [1, 2] }, 'arguments', '{\n  "edits": [\n    1,\n    2\n  ]\n}', '{"a":1}', { a: 1 }],
  ['fetch', { url: 'x' }, 'arguments', '{\n  "url": "x"\n}', 'no object', undefined],
] as const) {
  test(`the ${part} of a call of ${tool} is edited as text`, () => {
    const request = PermissionRequest.create({ tool, arguments: JSON.stringify(args), editable: true })
    const editable = findEditableText(request)!
    assert.deepEqual([editable.part, editable.text], [part, text])
    const changed = editable.toArguments(edited)
    assert.deepEqual(changed === undefined ? undefined : JSON.parse(changed), result)
  })
}

test('the answering window shows the call as the user has changed it', () => {
  const before = { ...busyState(), asks: [{ ...permissionCard(BASH), pair: CRAB }] }
  const calls = [{ name: 'bash', arguments: BASH.arguments, callId: 'c', server: '' }]
  const event = { $case: 'toolStart', value: { calls } } as const
  const running = reduce(before, { type: 'stream', event: { seq: 0, event } })
  const answered = reduce(running, { type: 'ask-answered', askId: 'ask-1', arguments: '{"command":"ls"}' })
  assert.deepEqual([answered.tools[0]!.arguments, answered.asks[0]!.isAnswered], ['{"command":"ls"}', true])
})

test('the text of a call leaves the composer when its question closes, and stays on the kill ring', () => {
  const { state } = play(['tab'])
  assert.equal(fullPromptText(state.prompt), 'npm test')
  const closed = { askId: 'ask-1', by: 'sh:2', content: '{}' }
  for (const action of [
    { type: 'ask-closed', closed },
    { type: 'conversation', agent: 'crab', sender: 'sh:3', session: 's3', title: '' },
  ] as const) {
    const after = reduce(state, action)
    assert.deepEqual([fullPromptText(after.prompt), after.prompt.kills[0]], ['', 'npm test'])
    assert.match(after.hint, /Ctrl\+Y inserts what you edited/)
    assert.ok(after.asks.every((card) => !isEditing(card)))
  }
  const escaped = play(['tab', 'escape']).state.prompt
  assert.deepEqual([fullPromptText(escaped), escaped.kills[0]], ['', 'npm test'])
})

/** Presses keys in a chat with this card; each key comes after a pause, except those with the prefix `fast:`. */
function play(keys: readonly string[], request = BASH): { state: ChatState; effects: ChatEffect[] } {
  const card = { ...permissionCard(request), pair: CRAB, isArmed: false, wasArmed: false }
  let state: ChatState = { ...busyState(), asks: [card] }
  const effects: ChatEffect[] = []
  for (const one of keys) {
    const name = one.replace(/^fast:/, '')
    state = { ...state, asks: state.asks.map((card) => armCard(card, name === one)) }
    const context = { prompt: { isBusy: true, columns: 80 }, room: { columns: 80, rows: 24 }, promptRows: 1 }
    const pressed = press(state, [key(name)], { ...context, isAlone: true })
    for (const action of pressed.actions) state = reduce(state, action)
    for (const effect of pressed.effects) {
      if (effect.type === 'insert') state = { ...state, prompt: withSent(state.prompt, effect.text) }
      else if (effect.type !== 'complete') effects.push(effect)
    }
  }
  return { state, effects }
}
