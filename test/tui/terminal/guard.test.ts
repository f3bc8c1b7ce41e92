import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { ProcessHooks } from '../../../src/core/base/process-hooks.ts'
import { guardTerminal } from '../../../src/tui/terminal/guard.ts'

test('guardTerminal() restores the terminal at exit, and cooked mode even when nothing can be written', () => {
  const { hooks, events, log } = makeProcess()
  using _guard = guardTerminal({ hooks, screen: makeScreen(log), lend: async () => {} })
  events.emit('exit')
  assert.deepEqual(log, ['write restored', 'cooked'])
  hooks.writeNow = () => {
    throw new Error('EIO')
  }
  using _second = guardTerminal({ hooks, screen: makeScreen(log), lend: async () => {} })
  assert.throws(() => events.emit('exit'), /EIO/)
  assert.deepEqual(log.slice(-1), ['cooked'])
})

test('guardTerminal() releases the terminal and stops once, for any number of requests', async () => {
  const { hooks, events, log } = makeProcess()
  const lend = async (use: () => void | Promise<void>) => {
    log.push('given')
    await use()
    log.push('taken back')
  }
  using guard = guardTerminal({ hooks, screen: makeScreen(log), lend })
  await guard.suspend()
  events.emit('continue') // arrives late, and needs no redraw
  assert.deepEqual(log.splice(0), ['given', 'stop', 'taken back'])
  events.emit('stop')
  events.emit('stop')
  await new Promise(setImmediate)
  assert.deepEqual(log, ['given', 'stop', 'taken back'])
})

test('guardTerminal() stops even while another program has the terminal', async () => {
  const { hooks, log } = makeProcess()
  const lend = () => Promise.reject(new Error('already suspended'))
  using guard = guardTerminal({ hooks, screen: makeScreen(log), lend })
  await guard.suspend()
  assert.deepEqual(log, ['stop'])
})

test('guardTerminal() takes the terminal back after an unnoticed stop, without erasing the screen', async () => {
  const { hooks, events, log } = makeProcess()
  const lend = async () => void log.push('taken back')
  using _guard = guardTerminal({ hooks, screen: makeScreen(log), lend })
  events.emit('continue')
  assert.deepEqual(log, ['forget', 'taken back'])
})

test('guardTerminal() handles no events after it was disposed', () => {
  const { hooks, events, log } = makeProcess()
  guardTerminal({ hooks, screen: makeScreen(log), lend: async () => {} })[Symbol.dispose]()
  for (const name of ['exit', 'stop', 'continue']) assert.equal(events.emit(name), false)
  assert.deepEqual(log, [])
})

function makeScreen(log: string[]) {
  return { restoring: () => 'restored', forget: () => void log.push('forget') }
}

function makeProcess(): { hooks: ProcessHooks; events: EventEmitter; log: string[] } {
  const events = new EventEmitter()
  const log: string[] = []
  const on = (name: string) => (listener: () => void) => {
    events.on(name, listener)
    return { [Symbol.dispose]: () => void events.off(name, listener) }
  }
  const hooks: ProcessHooks = {
    onExit: on('exit'),
    onStop: on('stop'),
    onContinue: on('continue'),
    stop: () => void log.push('stop'),
    writeNow: (bytes) => void log.push(`write ${bytes}`),
    makeCooked: () => void log.push('cooked'),
  }
  return { hooks, events, log }
}
