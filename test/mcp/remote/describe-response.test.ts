import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  describeBody,
  describeChallenge,
  describeResponse,
} from '../../../src/mcp/remote/describe-response.ts'

test('describeBody() finds the readable message of an answer', () => {
  for (const [body, words] of [
    ['', ''],
    ['try\n  later\x1b[31m', 'try later'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no such session"}}', 'no such session'],
    ['{"error":"invalid_token","error_description":"it is over"}', 'invalid_token'],
    ['{"title":"Too much","status":413}', 'Too much'],
    ['"enough"', 'enough'],
    ['  <!DOCTYPE html><title>Bad</title>', 'a web page'],
    ['x'.repeat(900), 'x'.repeat(200)],
  ] as const) {
    assert.equal(describeBody(body), words)
  }
})

test('describeResponse() contains the status, the URL and the message', () => {
  assert.equal(
    describeResponse({ status: 502, statusText: 'Bad Gateway', body: 'later' }, 'https://h/mcp'),
    'it answered HTTP 502 (Bad Gateway) at https://h/mcp: later',
  )
  assert.equal(
    describeResponse({ status: 599, statusText: '', body: '' }, 'https://h/'),
    'it answered HTTP 599 at https://h/',
  )
})

test('describeChallenge() names the missing scopes and the explanation', () => {
  const challenge = 'Bearer error="insufficient_scope", scope="files:write", error_description="read only"'
  assert.equal(describeChallenge(challenge), '; read only; it needs the scopes files:write')
  assert.equal(describeChallenge('Bearer realm="x"'), '')
  assert.equal(describeChallenge(null), '')
})
