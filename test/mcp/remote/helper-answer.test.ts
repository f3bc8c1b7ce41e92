import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHelperAnswer } from '../../../src/mcp/remote/helper-answer.ts'

const NOW = Date.parse('2026-08-01T12:00:00Z')

test('readHelperAnswer() accepts a token, header lines, and JSON', () => {
  for (const [output, headers, expiresAt] of [
    ['tok:en', { Authorization: 'Bearer tok:en' }, undefined],
    ['Basic YTpi\n', { Authorization: 'Basic YTpi' }, undefined],
    [
      'X-Key: a: b\r\n\r\nAuthorization: Bearer t\n',
      { 'X-Key': 'a: b', Authorization: 'Bearer t' },
      undefined,
    ],
    ['{"headers":{"X-Key":" v "},"expires_in":90}', { 'X-Key': 'v' }, NOW + 90_000],
    ['{"token":"t","expires_at":"2026-08-01T13:00:00Z"}', { Authorization: 'Bearer t' }, NOW + 3_600_000],
    ['{"token":"t","expires_at":1785589200}', { Authorization: 'Bearer t' }, 1_785_589_200_000],
    ['{"token":"t","expires_in":null}', { Authorization: 'Bearer t' }, undefined],
    ['{"X-Key":"v","Authorization":"Bearer t"}', { 'X-Key': 'v', Authorization: 'Bearer t' }, undefined],
  ] as const) {
    assert.deepEqual(readHelperAnswer(output, NOW), { headers, expiresAt }, output)
  }
})

test('readHelperAnswer() says what is wrong with an answer, without quoting it', () => {
  for (const [output, message] of [
    [' \n', 'it printed nothing'],
    ['s3cret and more', 'it printed several words that are not a header'],
    ['s3cret\ns3cret', 'it printed several lines that are not headers'],
    ['X-Key: v\ns3cret', 'it printed a line that is not a header'],
    ['{"s3cret', 'it printed JSON that cannot be read'],
    ['{}', 'it returned no header'],
    ['{"headers":["s3cret"]}', 'its "headers" are not an object'],
    ['{"headers":{"X":7}}', 'its header "X" is not a string'],
    ['{"token":{"a":"s3cret"}}', 'its "token" is not a string'],
    ['{"token":"s3cret","expires_in":"soon"}', 'its "expires_in" is not a number of seconds'],
    ['{"token":"s3cret","expires_at":"soon"}', 'its "expires_at" is not a time'],
    ['Host: s3cret', 'the header "Host" cannot be set: it belongs to the connection'],
  ] as const) {
    assert.throws(() => readHelperAnswer(output, NOW), { kind: 'failed', message }, output)
  }
})
