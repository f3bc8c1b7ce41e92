import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineQueue } from '../../../src/tui/plain/line-queue.ts'

const NEVER = new AbortController().signal

test('LineQueue gives a line to the latest reader', async () => {
  const { queue, type } = open()
  const prompt = queue.read(NEVER)
  const question = queue.readFresh(NEVER)
  type('one')
  assert.equal(await question, 'one')
  type('two')
  assert.equal(await prompt, 'two')
})

test('LineQueue keeps other readers when a question is closed as it is answered', async () => {
  const { queue, type } = open()
  const closing = new AbortController()
  const prompt = queue.read(NEVER)
  const question = queue.readFresh(closing.signal)
  type('yes')
  await new Promise((resolve) => process.nextTick(resolve)) // the line is delivered, but the question has not received it
  closing.abort()
  await question.catch(() => undefined)
  type('hello')
  assert.equal(await prompt, 'hello')
})

test('LineQueue keeps a line that came after its reader left, for the prompt and not for a question', async () => {
  const { queue, type } = open()
  const closing = new AbortController()
  const question = queue.readFresh(closing.signal)
  closing.abort()
  await assert.rejects(question)
  type('typed for something else')
  await new Promise(setImmediate)
  const next = queue.readFresh(NEVER)
  assert.equal(await queue.read(NEVER), 'typed for something else')
  type('answer')
  assert.equal(await next, 'answer')
})

test('LineQueue rejects all readers when nothing can be read, and reads again for the next one', async () => {
  const { queue, type, fail } = open()
  const both = [queue.read(NEVER), queue.readFresh(NEVER)]
  fail(new Error('gone'))
  for (const one of both) await assert.rejects(one, /gone/)
  const next = queue.read(NEVER)
  type(undefined)
  assert.equal(await next, undefined)
  await assert.rejects(queue.read(AbortSignal.abort()))
})

/** A queue whose keyboard is the test. */
function open() {
  let line = Promise.withResolvers<string | undefined>()
  const queue = new LineQueue(async () => {
    const typed = await line.promise.finally(() => {
      line = Promise.withResolvers()
    })
    return typed
  }, NEVER)
  return {
    queue,
    type: (text: string | undefined) => line.resolve(text),
    fail: (reason: Error) => line.reject(reason),
  }
}
