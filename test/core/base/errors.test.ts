import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CrabError,
  ERROR_KINDS,
  type ErrorKind,
  parseErrorKind,
  toCrabError,
  toErrorKind,
} from '../../../src/core/base/errors.ts'

/** The exit codes of the command line, with their error kinds. */
const EXITS: Record<number, readonly ErrorKind[]> = {
  1: ['missing', 'conflict', 'gone', 'failed', 'storage'],
  2: ['usage'],
  3: ['refused'],
  4: ['denied', 'no-service'],
  5: ['tool'],
  6: ['schema'],
  7: ['truncated'],
  8: ['limit'],
  9: ['empty'],
  65: ['invalid'],
  66: ['no-input'],
  69: ['unavailable'],
  70: ['internal'],
  75: ['throttled'],
  77: ['credentials'],
  78: ['config'],
  124: ['timeout'],
  130: ['cancelled'],
}

test('ERROR_KINDS gives every kind its documented exit code', () => {
  const expected = Object.entries(EXITS).flatMap(([exit, kinds]) =>
    kinds.map((kind) => [kind, Number(exit)] as const),
  )
  const actual = Object.entries(ERROR_KINDS).map(([kind, { exit }]) => [kind, exit])
  assert.deepEqual(Object.fromEntries(actual), Object.fromEntries(expected))
})

test('ERROR_KINDS uses only the wire codes of the protocol', () => {
  const codes = new Set(Object.values(ERROR_KINDS).map(({ wire }) => wire))
  assert.deepEqual([...codes].sort(), [400, 403, 404, 409, 410, 429, 500, 503, 504])
})

test('ERROR_KINDS marks exactly the temporary outside failures as retryable', () => {
  const retryable = Object.entries(ERROR_KINDS).filter(([, row]) => row.retryable)
  assert.deepEqual(
    retryable.map(([kind]) => kind),
    ['throttled', 'unavailable', 'timeout'],
  )
})

test('toErrorKind() returns a kind for each wire code, and internal for unknown ones', () => {
  for (const { wire } of Object.values(ERROR_KINDS)) assert.equal(ERROR_KINDS[toErrorKind(wire)].wire, wire)
  assert.equal(toErrorKind(418), 'internal')
})

test('parseErrorKind() accepts the kinds of this build only', () => {
  for (const kind of Object.keys(ERROR_KINDS)) assert.equal(parseErrorKind(kind), kind)
  for (const name of ['', 'novel', 'toString', '__proto__', 'constructor']) {
    assert.equal(parseErrorKind(name), undefined)
  }
})

test('CrabError keeps kind, hint, delay and cause', () => {
  const cause = new Error('below')
  const error = new CrabError('throttled', 'Cannot call: busy', { cause, hint: 'wait', retryAfterMs: 5 })
  assert.deepEqual(
    [error.name, error.kind, error.hint, error.retryAfterMs, error.cause],
    ['CrabError', 'throttled', 'wait', 5, cause],
  )
  assert.equal('cause' in new CrabError('failed', 'x'), false)
})

test('toCrabError() passes a CrabError through', () => {
  const error = new CrabError('gone', 'x')
  assert.equal(toCrabError(error), error)
})

test('toCrabError() converts an abort to `cancelled`, or to its reason', () => {
  const plain = toCrabError(AbortSignal.abort().reason)
  assert.deepEqual([plain.kind, plain.message], ['cancelled', 'Cancelled'])
  const reason = new CrabError('timeout', 'too slow')
  const wrapped = Object.assign(new Error('The operation was aborted', { cause: reason }), {
    name: 'AbortError',
  })
  assert.equal(toCrabError(wrapped), reason)
})

test('toCrabError() treats everything else as internal and keeps it as the cause', () => {
  const bug = new TypeError('x is not a function')
  const error = toCrabError(bug)
  assert.deepEqual([error.kind, error.cause], ['internal', bug])
  assert.match(error.message, /x is not a function/)
  for (const thrown of ['text', 7, undefined, null, { a: 1 }, Symbol('s')]) {
    assert.equal(toCrabError(thrown).kind, 'internal')
  }
})
