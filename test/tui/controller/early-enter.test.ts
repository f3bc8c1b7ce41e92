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

test('a digit and Enter in quick succession answer', () => {
  for (const digit of ['1', '4']) {
    using chat = openAsked()
    press(chat, digit, 'enter')
    assert.equal(isAnswered(chat), true, digit)
  }
})

test('a choice that allows something lasting answers after a pause, however often Enter is pressed', () => {
  for (const keys of [
    ['2', 'enter'],
    ['3', 'enter'],
    ['2', 'enter', 'enter', 'enter'],
  ]) {
    using chat = openAsked()
    press(chat, ...keys)
    assert.equal(isAnswered(chat), false, `${keys}: not before the pause`)
    chat.clock.advance(500)
    assert.equal(isAnswered(chat), true, `${keys}: after it`)
  }
})

test('a key that follows an early Enter stops the answer', () => {
  for (const [then, draft] of [
    ['x', 'x'],
    ['backspace', ''],
    ['page-down', ''],
    ['escape', ''],
    ['down', ''],
  ] as const) {
    using chat = openAsked()
    press(chat, '2', 'enter', then)
    chat.clock.advance(60_000)
    assert.deepEqual([isAnswered(chat), chat.store.get().prompt.text], [false, draft], then)
  }
})

test('Enter right after the arrows keeps the selection, and counts after a pause', () => {
  using chat = openAsked()
  press(chat, 'up', 'up', 'up', 'enter')
  assert.equal(chat.store.get().hint, 'Press Enter again to answer 2')
  chat.clock.advance(60_000)
  assert.equal(isAnswered(chat), false)
  press(chat, 'enter')
  assert.equal(isAnswered(chat), true)
})

test('words typed right after an answer are a message without the digit', () => {
  using chat = openAsked()
  press(chat, '5', 'enter', 'n', 'o')
  assert.deepEqual([chat.store.get().asks[0]!.state.isWriting, chat.store.get().prompt.text], [true, 'no'])
})

test('an early Enter is forgotten when the card is covered or the window is resized', () => {
  using resized = openAsked()
  resized.controller.resized({ columns: 80, rows: 24 })
  press(resized, '2', 'enter')
  resized.controller.resized({ columns: 60, rows: 24 })
  resized.clock.advance(60_000)
  assert.equal(isAnswered(resized), false)

  using covered = openAsked()
  press(covered, '2', 'enter')
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
  assert.equal(isAnswered(chat), true)
})
