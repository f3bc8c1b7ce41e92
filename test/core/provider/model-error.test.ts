import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { ErrorKind } from '../../../src/core/base/errors.ts'
import { toModelError, toResponseError } from '../../../src/core/provider/model-error.ts'
import type { ErrorResponse } from '../../../src/core/provider/retry-after.ts'
import { endpointAt } from '../../support/model-calls.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const PLACE = { endpoint: endpointAt('http://127.0.0.1:1/v1'), model: 'm' }

describe('toResponseError()', () => {
  const CASES: [string, number, unknown, ErrorKind][] = [
    ['a bad key', 401, { error: { message: 'no' } }, 'credentials'],
    ['no credit', 402, { error: { message: 'Insufficient Balance' } }, 'credentials'],
    ['a forbidden model', 403, {}, 'credentials'],
    ['an unknown model or path', 404, {}, 'config'],
    [
      'an unknown model as a bad request',
      400,
      { error: { message: 'gpt-x is not a valid model ID' } },
      'config',
    ],
    ['a model that is gone', 400, { error: { message: 'The model `x` has been decommissioned' } }, 'config'],
    [
      'a bad key as a bad request',
      400,
      [{ error: { message: 'API key not valid. Pass a valid API key.' } }],
      'credentials',
    ],
    [
      'a low balance as a bad request',
      400,
      { error: { message: 'Your credit balance is too low' } },
      'credentials',
    ],
    [
      'a spent quota as a rate limit',
      429,
      { error: { code: 'insufficient_quota', message: 'quota' } },
      'credentials',
    ],
    ['a rate limit', 429, { error: { message: 'You exceeded your current quota' } }, 'throttled'],
    ['a bad request', 400, { error: { message: 'temperature: bad' } }, 'invalid'],
    ['an unprocessable one', 422, { detail: [{ msg: 'field required' }] }, 'invalid'],
    ['a body too large', 413, '', 'invalid'],
    ['a failure', 500, 'oops', 'unavailable'],
    ['a bad gateway', 502, '<html>', 'unavailable'],
    ['an overload', 529, {}, 'unavailable'],
    ['a slow request', 408, '', 'timeout'],
    ['a locked resource', 409, '', 'unavailable'],
    ['a redirect', 308, '', 'config'],
  ]
  for (const [name, status, body, kind] of CASES) {
    test(`reads ${name} (${status}) as ${kind}`, () => {
      assert.equal(toResponseError(refusal(status, body), PLACE).kind, kind)
    })
  }

  test('quotes the server in one line, for any format of its message', () => {
    const quote = (body: unknown) => toResponseError(refusal(400, body), PLACE).message
    assert.equal(
      quote({ error: { message: 'two\n  lines\u001b[31m' } }),
      'Cannot call m (test): two lines [31m (400)',
    )
    assert.equal(quote({ error: 'plain' }), 'Cannot call m (test): plain (400)')
    assert.equal(quote({ detail: [{ msg: 'listed' }] }), 'Cannot call m (test): listed (400)')
    assert.equal(quote([{ error: { message: 'in a list' } }]), 'Cannot call m (test): in a list (400)')
    assert.equal(quote('just text'), 'Cannot call m (test): just text (400)')
    assert.equal(quote('<html>no</html>'), 'Cannot call m (test): no reason given (400)')
    assert.equal(quote('x'.repeat(1000)).length, 'Cannot call m (test): … (400)'.length + 300)
  })

  test('keeps the sizes of a request that is too long, and says what to do', () => {
    const message = 'prompt is too long: 210000 tokens > 200000 maximum'
    const error = toResponseError(refusal(400, { error: { message } }), PLACE)
    assert.equal(error.kind, 'invalid')
    assert.match(error.message, /210000 tokens > 200000/)
    assert.equal(error.hint, 'compact the conversation, send less, or use a model with a larger context')
  })

  test('says where the key comes from, or should', () => {
    const readHint = (body: unknown, endpoint = PLACE.endpoint) =>
      toResponseError(refusal(401, body), { ...PLACE, endpoint }).hint
    assert.equal(readHint(''), 'check the key (TEST_API_KEY), or replace it: crabtalk connect')
    assert.equal(readHint('out of credit'), 'add credit, or use another key (TEST_API_KEY)')
    assert.equal(
      readHint('', { ...PLACE.endpoint, apiKey: undefined }),
      'no key is set: set one (TEST_API_KEY), or use crabtalk connect',
    )
    assert.match(
      readHint('', { ...PLACE.endpoint, apiKey: undefined, isInDaemon: true })!,
      /^the daemon was started without TEST_API_KEY: .*crabtalk daemon stop/,
    )
    assert.equal(
      readHint('', { ...PLACE.endpoint, apiKey: undefined, isInDaemon: true, keyFrom: 'config.toml:3' }),
      'no key is set: set one (config.toml:3), or use crabtalk connect',
    )
  })

  test('reads every form of a retry delay', () => {
    const after = (headers: Record<string, string>, body: unknown = '') =>
      toResponseError({ ...refusal(429, body), headers }, PLACE).retryAfterMs
    assert.equal(after({ 'retry-after': '7' }), 7000)
    assert.equal(after({ 'retry-after': '0.5' }), 500)
    assert.equal(after({ 'retry-after-ms': '120', 'retry-after': '7' }), 120)
    assert.equal(after({}, { error: { details: [{ retryDelay: '38s' }] } }), 38_000)
    const date = after({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() })!
    assert.ok(date > 50_000 && date <= 60_000, String(date))
    assert.equal(after({ 'retry-after': new Date(0).toUTCString() }), 0)
    assert.equal(after({ 'retry-after': 'soon' }), undefined)
    assert.equal(after({}), undefined)
    assert.equal(after({}, { error: { message: 'Please try again in 20s.' } }), 20_000)
    assert.equal(after({}, { error: { message: 'Please try again in 1m2.5s. Visit' } }), 62_500)
    assert.equal(after({}, { error: { message: 'Please try again in 350ms' } }), 350)
    assert.equal(after({}, { error: { message: 'try again in a moment, or 5 days' } }), undefined)
  })

  test('reads the reset of the limits that are used up', () => {
    const after = (headers: Record<string, string>, status = 429) =>
      toResponseError({ status, headers, body: '' }, PLACE).retryAfterMs
    const soon = (ms: number | undefined) => ms !== undefined && ms > 50_000 && ms <= 60_000
    assert.equal(after({ 'x-ratelimit-reset': '20' }), 20_000)
    assert.ok(soon(after({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${Date.now() + 60_000}` })))
    assert.ok(soon(after({ 'x-ratelimit-reset': `${Math.floor(Date.now() / 1000) + 60}` })))
    const reset = new Date(Date.now() + 60_000).toISOString()
    assert.ok(soon(after({ 'anthropic-ratelimit-tokens-reset': reset })))
    const two = { 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '6m0s' }
    assert.equal(after({ ...two, 'x-ratelimit-remaining-tokens': '12' }), 1_000)
    assert.equal(after(two), 360_000)
    assert.equal(after({ 'x-ratelimit-reset': 'later' }), undefined)
    assert.equal(after({ 'x-ratelimit-reset': '20' }, 500), undefined)
  })

  test('says when to try again, in a unit that can be read', () => {
    const hint = (seconds: number, status = 429) =>
      toResponseError({ status, headers: { 'retry-after': String(seconds) }, body: '' }, PLACE).hint
    assert.equal(hint(120), 'try again in 120 s')
    assert.equal(hint(1_501, 503), 'try again in 26 min')
    assert.equal(hint(18_000), 'try again in 5 h')
  })

  test('never prints the key, wherever the server puts it', () => {
    const key = fc.stringMatching(/^[A-Za-z0-9_-]{8,40}$/)
    fc.assert(
      fc.property(key, fc.string(), fc.string(), (apiKey, before, behind) => {
        const place = { ...PLACE, endpoint: { ...PLACE.endpoint, apiKey } }
        const { message } = toResponseError(
          refusal(401, { error: { message: `${before}${apiKey}${behind}` } }),
          place,
        )
        assert.ok(!message.includes(apiKey) || `Cannot call m (test): `.includes(apiKey), message)
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })
})

describe('toModelError()', () => {
  test('reads error records of every dialect', () => {
    const readKind = (record: unknown) => toModelError(record, PLACE, new AbortController().signal).kind
    assert.equal(
      readKind({ message: 'Overloaded', type: 'overloaded_error', statusCode: 529 }),
      'unavailable',
    )
    assert.equal(readKind({ message: 'slow', code: 429 }), 'throttled')
    assert.equal(readKind({ message: 'slow', type: 'rate_limit_error' }), 'throttled')
    assert.equal(readKind({ message: 'Provider returned error', code: 502 }), 'unavailable')
    assert.equal(readKind('gone'), 'unavailable')
    assert.equal(readKind({ message: 'quota', code: 'insufficient_quota' }), 'credentials')
    assert.equal(readKind({ message: 'no', type: 'authentication_error' }), 'credentials')
    assert.equal(readKind({ message: 'no', type: 'invalid_request_error' }), 'invalid')
    assert.equal(
      readKind({ message: 'wait', type: 'invalid_request_error', code: 'rate_limit_exceeded' }),
      'throttled',
    )
    assert.equal(readKind({ message: 'oops', type: 'api_error' }), 'unavailable')
  })

  test('treats an unknown error as internal', () => {
    const error = toModelError(new TypeError('x is not a function'), PLACE, new AbortController().signal)
    assert.equal(error.kind, 'internal')
  })

  test('is cancelled after an abort, whatever was thrown', () => {
    const signal = AbortSignal.abort()
    assert.equal(toModelError(new Error('socket hang up'), PLACE, signal).kind, 'cancelled')
  })
})

function refusal(status: number, body: unknown): ErrorResponse {
  return { status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) }
}
