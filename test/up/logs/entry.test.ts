import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLogEntry } from '../../../src/up/logs/entry.ts'

const AT = { service: 'daemon', source: 'log', about: 5 } as const

test('parseLogEntry() parses a line of a log', () => {
  const raw = '{"time":"2026-01-02T03:04:05.678Z","level":"warn","pid":7,"message":"odd","file":"a b"}'
  assert.deepEqual(parseLogEntry(raw, AT), {
    ...{ service: 'daemon', source: 'log', raw, time: Date.UTC(2026, 0, 2, 3, 4, 5, 678) },
    ...{ level: 'warn', message: 'odd', fields: { pid: 7, file: 'a b' } },
  })
})

test('parseLogEntry() keeps other lines as they are, with the approximate time of writing', () => {
  for (const raw of ['Error: x', '{"a":1}', '{', '', '[1]', '{"message":7}']) {
    assert.deepEqual(parseLogEntry(raw, AT), {
      service: 'daemon',
      source: 'log',
      raw,
      time: 5,
      message: raw,
      fields: {},
    })
  }
  const odd = parseLogEntry('{"message":"m","time":"never","level":"loud"}', AT)
  assert.deepEqual([odd.message, odd.time, odd.level], ['m', 5, undefined])
})

test('parseLogEntry() parses the logs of other programs, with times in milliseconds and the message in msg', () => {
  const entry = parseLogEntry('{"level":"info","time":1767323045678,"msg":"hello"}', AT)
  assert.deepEqual([entry.message, entry.time, entry.level], ['hello', 1767323045678, 'info'])
})

test('parseLogEntry() ignores a time that Date cannot represent', () => {
  for (const time of [1767323045678000000, 8.64e15 + 1, -1e17, '"x"', null]) {
    assert.equal(parseLogEntry(`{"time":${time},"message":"m"}`, AT).time, 5, `${time}`)
  }
})

test('parseLogEntry() assigns a line of the supervisor to the service it is about', () => {
  const at = { service: 'supervisor', source: 'supervisor', about: 5 } as const
  const entry = parseLogEntry('{"message":"Started","service":"clock","pid":3}', at)
  assert.deepEqual([entry.service, entry.fields], ['clock', { pid: 3 }])
  assert.equal(parseLogEntry('{"message":"Looks around"}', at).service, 'supervisor')
  assert.equal(parseLogEntry('{"message":"m","service":"clock"}', AT).service, 'daemon')
})
