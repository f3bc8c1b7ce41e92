import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError, ERROR_KINDS, type ErrorKind } from '../../../src/core/base/errors.ts'
import { ErrorMsg, StreamEnd } from '../../../src/core/protocol/crabtalk.generated.ts'
import { fromErrorMsg, fromStreamEnd, toDetail, toErrorMsg } from '../../../src/core/protocol/failure.ts'

for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
  test(`fromErrorMsg() restores ${kind}, for a reply and for the end of a turn`, () => {
    const error = new CrabError(kind, 'Cannot go on: no', { hint: 'do this', retryAfterMs: 20 })
    const message = toErrorMsg(error)
    assert.equal(message.code, ERROR_KINDS[kind].wire)
    assert.equal(message.detail?.retryable, ERROR_KINDS[kind].retryable)
    assertSame(fromErrorMsg(message), error)
    assertSame(fromStreamEnd(StreamEnd.create({ error: error.message, detail: toDetail(error) })), error)
  })
}

test('fromErrorMsg() uses the kind of the code if a peer sends no detail or an unknown kind', () => {
  const kinds = [400, 403, 404, 409, 410, 429, 500, 503, 504, 418].map(
    (code) => fromErrorMsg(ErrorMsg.create({ code, message: 'no' })).kind,
  )
  assert.deepEqual(kinds, [
    'invalid',
    'denied',
    'missing',
    'conflict',
    'gone',
    'throttled',
    'failed',
    'unavailable',
    'timeout',
    'internal',
  ])
  const newer = ErrorMsg.create({ code: 403, message: 'no', detail: { kind: 'quarantined' } })
  assert.equal(fromErrorMsg(newer).kind, 'denied')
})

test('fromErrorMsg() has no hint and no delay if the peer sent none', () => {
  const error = fromErrorMsg(toErrorMsg(new CrabError('missing', 'Cannot find it')))
  assert.equal(error.hint, undefined)
  assert.equal(error.retryAfterMs, undefined)
})

test('toDetail() rounds the delay, which the wire counts in whole milliseconds', () => {
  assert.equal(toDetail(new CrabError('throttled', 'no', { retryAfterMs: 12.6 })).retryAfterMs, 13)
  assert.equal(toDetail(new CrabError('throttled', 'no', { retryAfterMs: -1 })).retryAfterMs, 0)
})

test('toDetail() says why a turn ended that did not fail', () => {
  const detail = toDetail(undefined, 'length')
  assert.deepEqual(detail, {
    kind: '',
    hint: '',
    retryable: false,
    retryAfterMs: undefined,
    stopReason: 'length',
  })
  assert.equal(fromStreamEnd(StreamEnd.create({ detail })), undefined)
})

test('fromStreamEnd() detects an error by its text alone, as old daemons send it, and by its kind alone', () => {
  assert.equal(fromStreamEnd(StreamEnd.create()), undefined)
  assert.equal(fromStreamEnd(StreamEnd.create({ error: 'bad' }))?.kind, 'failed')
  assert.equal(fromStreamEnd(StreamEnd.create({ detail: { kind: 'timeout' } }))?.kind, 'timeout')
})

function assertSame(actual: CrabError | undefined, expected: CrabError): void {
  const { kind, message, hint, retryAfterMs } = expected
  assert.ok(actual instanceof CrabError)
  assert.deepEqual(
    { kind: actual.kind, message: actual.message, hint: actual.hint, retryAfterMs: actual.retryAfterMs },
    { kind, message, hint, retryAfterMs },
  )
}
