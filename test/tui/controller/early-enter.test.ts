import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { AskKind, AskUserEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { CHAT_OPTIONS } from '../../support/chat-state.ts'
import { type ControlledChat, openControlled } from '../../support/controlled-chat.ts'
import { key } from '../cards/card-fixtures.ts'

const HERE = { agent: CHAT_OPTIONS.agent, sender: CHAT_OPTIONS.sender }

/** Opens a chat with a permission card that has been on the screen for a minute. */
function openAsked(command = 'npm test'): ControlledChat {
  const chat = openControlled()
  const ask = AskUserEvent.fromPartial({
    askId: 'p',
    kind: AskKind.PERMISSION,
    questions: [
      { question: 'Allow it?', options: Object.values(PERMISSION_ANSWERS).map((label) => ({ label })) },
    ],
    permission: { tool: 'bash', action: `bash: ${command}`, rules: ['bash(npm *)'] },
  })
  chat.store.act({ type: 'ask-opened', ask: { ...HERE, session: '', runId: '', openedAt: '', ask } })
  chat.clock.advance(60_000)
  return chat
}

/** Presses keys, 100 ms apart. */
function press({ controller, clock }: ControlledChat, ...names: string[]): void {
  for (const name of names) {
    controller.keys([key(name)])
    clock.advance(100)
  }
}

const isAnswered = ({ store }: ControlledChat) => store.get().asks[0]!.isAnswered

test('a digit and Enter in quick succession answer after a pause, without another key', () => {
  for (const keys of [
    ['1', 'enter'],
    ['4', 'enter'],
    ['1', 'enter', 'enter', 'enter'],
  ]) {
    using chat = openAsked()
    press(chat, ...keys)
    assert.equal(isAnswered(chat), false, `${keys}: not before the pause`)
    chat.clock.advance(400)
    assert.equal(isAnswered(chat), false, `${keys}: not before the end of the pause`)
    chat.clock.advance(200)
    assert.equal(isAnswered(chat), true, `${keys}: after it`)
  }
})

test('a key that follows an early Enter stops the answer', () => {
  for (const [then, draft] of [
    ['x', '1x'],
    ['backspace', ''],
    ['page-down', ''],
    ['escape', ''],
    ['down', '1'],
  ] as const) {
    using chat = openAsked()
    press(chat, '1', 'enter', then)
    chat.clock.advance(60_000)
    assert.deepEqual([isAnswered(chat), chat.store.get().prompt.text], [false, draft], then)
  }
})

test('a choice that allows something lasting needs Enter after a pause', () => {
  for (const digit of ['2', '3']) {
    using chat = openAsked()
    press(chat, digit, 'enter')
    assert.equal(chat.store.get().hint, `Press Enter again to answer ${digit}`)
    chat.clock.advance(60_000)
    assert.equal(isAnswered(chat), false)
    press(chat, 'enter')
    assert.equal(isAnswered(chat), true)
  }
})

test('an early Enter is forgotten when the card is covered or the window is resized', () => {
  using resized = openAsked()
  resized.controller.resized({ columns: 80, rows: 24 })
  press(resized, '1', 'enter')
  resized.controller.resized({ columns: 60, rows: 24 })
  resized.clock.advance(60_000)
  assert.equal(isAnswered(resized), false)

  using covered = openAsked()
  press(covered, '1', 'enter')
  covered.store.act({ type: 'lent', isLent: true })
  covered.clock.advance(60_000)
  covered.store.act({ type: 'lent', isLent: false })
  covered.clock.advance(60_000)
  assert.equal(isAnswered(covered), false)
})

test('Enter pages through a long call at any speed, and then answers', () => {
  using chat = openAsked(Array.from({ length: 100 }, (_, at) => `echo line ${at}`).join('\n'))
  press(chat, '1', 'enter')
  chat.clock.advance(60_000)
  assert.equal(isAnswered(chat), false)
  press(chat, ...Array.from({ length: 20 }, () => 'enter'))
  chat.clock.advance(600)
  assert.equal(isAnswered(chat), true)
})
