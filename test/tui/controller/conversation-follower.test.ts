import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { Dispatch } from '../../../src/core/protocol/dispatch.ts'
import { toErrorMsg } from '../../../src/core/protocol/failure.ts'
import type { ChatLink } from '../../../src/tui/ports.ts'
import type { Script } from '../../support/model-server.ts'
import { openShownChat, type ShownChat } from '../../support/shown-chat.ts'

test('a connection that is lost during a turn is restored, and the turn continues where it was', async () => {
  const gate = Promise.withResolvers<void>()
  const before = Promise.withResolvers<void>()
  await using at = await open([{ parts: ['One, ', before.promise, 'two, ', gate.promise, 'three.'] }])
  at.chat.type('count\r')
  await at.chat.see('One,')
  at.disconnect()
  await at.chat.see('no daemon, trying again')
  before.resolve()
  at.reconnect()
  await at.chat.see('One, two,')
  gate.resolve()
  await at.chat.see('One, two, three.')
  await at.chat.gone('trying again')
  assertOnce(at.chat, 'count', 'One, two, three.')
  assert.doesNotMatch(at.chat.text(), /daemon stopped|meanwhile/)
})

test('messages from the time without a connection are shown once', async () => {
  await using at = await open([{ parts: ['One.'] }, { parts: ['Two.'] }, { parts: ['Three.'] }])
  at.chat.type('first\r')
  await at.chat.see('One.')
  at.disconnect()
  await at.chat.see('no daemon, trying again')
  await at.chat.node.ask('second')
  at.reconnect()
  await at.chat.see('One.', 'second', 'Two.')
  at.chat.type('third\r')
  await at.chat.see('Three.')
  assertOnce(at.chat, 'first', 'One.', 'second', 'Two.', 'third', 'Three.')
})

test('after a daemon restart, messages that were stored meanwhile are shown once', async () => {
  await using at = await open([{ parts: ['One.'] }, { parts: ['Two.'] }, { parts: ['Three.'] }])
  at.chat.type('first\r')
  await at.chat.see('One.')
  at.disconnect()
  await at.chat.see('no daemon, trying again')
  await at.chat.node.ask('second')
  at.reconnect('another')
  await at.chat.see('One.', 'meanwhile', 'second', 'Two.')
  at.chat.type('third\r')
  await at.chat.see('Three.')
  assertOnce(at.chat, 'first', 'One.', 'second', 'Two.', 'third', 'Three.')
})

test('a message that is typed without a connection is sent when there is one', async () => {
  await using at = await open([{ parts: ['One.'] }])
  at.disconnect()
  await at.chat.see('no daemon, trying again')
  at.chat.type('hello\r')
  await at.chat.see('hello')
  assert.equal(at.chat.node.server.requests.length, 0)
  at.reconnect()
  await at.chat.see('hello', 'One.')
  assertOnce(at.chat, 'hello', 'One.')
})

test('changes of the connection are printed', async () => {
  await using at = await open([], [{ text: 'the daemon is 0.9, this is 1.0' }])
  await at.chat.see('the daemon is 0.9, this is 1.0')
})

interface LossyChat extends AsyncDisposable {
  chat: ShownChat
  /** Stops the daemon. */
  disconnect(): void
  /** Starts it again; a restarted daemon has another name. */
  reconnect(instance?: string): void
}

/** A chat over a connection that can be lost. */
async function open(script: Script, notes: ChatLink['notes'] = []): Promise<LossyChat> {
  let link: ChatLink | undefined = { place: 'daemon', instance: 'first', notes }
  const running = new Set<AbortController>()
  const loseConnection = (dispatch: Dispatch): Dispatch =>
    async function* sometimes(message, signal) {
      if (!link) return yield toGoneError(message.requestId)
      const cut = new AbortController()
      running.add(cut)
      try {
        for await (const reply of dispatch(message, AbortSignal.any([signal, cut.signal]))) {
          if (cut.signal.aborted) return yield toGoneError(message.requestId)
          yield reply
        }
      } finally {
        running.delete(cut)
      }
    }
  const connect = async () => {
    if (link) return link
    throw new CrabError('unavailable', 'Cannot reach the daemon: it is gone')
  }
  const chat = await openShownChat(script, { between: loseConnection, ports: { connect } })
  await chat.see('· daemon')
  return {
    chat,
    disconnect() {
      link = undefined
      for (const cut of running) cut.abort()
    },
    reconnect(instance = 'first') {
      link = { place: 'daemon', instance, notes: [] }
    },
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  }
}

function toGoneError(requestId: number) {
  const error = toErrorMsg(
    new CrabError('unavailable', 'Cannot go on: the connection to the daemon was lost'),
  )
  return { requestId, msg: { $case: 'error', value: error } } as const
}

function assertOnce(chat: ShownChat, ...words: readonly string[]): void {
  const text = chat.text().replace(/^crab · .*$/m, '') // the status line has the title, which is the first message
  for (const one of words) assert.equal(text.split(one).length, 2, `"${one}" once in:\n${text}`)
}
