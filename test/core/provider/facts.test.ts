import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costUsd, isCalled, knownFacts } from '../../../src/core/provider/facts.ts'

const NOTHING = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
const MILLION = 1_000_000

test('knownFacts() knows a model under its vendor and with its date', () => {
  const facts = { context: 200_000, inputUsd: 1, outputUsd: 5, cacheReadUsd: 0.1, cacheWriteUsd: 1.25 }
  assert.deepEqual(knownFacts('claude-haiku-4-5'), facts)
  assert.deepEqual(knownFacts('claude-haiku-4-5-20251001'), facts)
  assert.deepEqual(knownFacts('anthropic/claude-haiku-4-5'), facts)
  assert.equal(knownFacts('gpt-5.4-mini-2026-03-17').context, 400_000)
})

test('knownFacts() does not guess', () => {
  assert.deepEqual(knownFacts('claude-haiku-4-5-turbo'), {})
  assert.deepEqual(knownFacts('toString'), {})
  assert.deepEqual(knownFacts(''), {})
  assert.deepEqual(knownFacts('deepseek-v4-pro'), { context: 1_048_576 })
})

test('isCalled() matches a name without its date with the listed one, but not another date', () => {
  assert.ok(isCalled('claude-haiku-4-5-20251001', 'claude-haiku-4-5'))
  assert.ok(isCalled('gpt-5.4-2026-03-05', 'gpt-5.4'))
  assert.ok(isCalled('claude-haiku-4-5', 'claude-haiku-4-5'))
  assert.ok(!isCalled('claude-haiku-4-5', 'claude-haiku-4-5-20251001'))
  assert.ok(!isCalled('claude-haiku-4-5-20251001', 'claude-haiku-4'))
})

test('costUsd() prices cache reads and writes separately', () => {
  const usage = {
    ...NOTHING,
    input: 10 * MILLION,
    cache_read: 4 * MILLION,
    cache_write: MILLION,
    output: MILLION,
  }
  const facts = { inputUsd: 2, outputUsd: 10, cacheReadUsd: 0.2, cacheWriteUsd: 2.5 }
  assert.equal(costUsd(usage, facts), 5 * 2 + 4 * 0.2 + 2.5 + 10)
})

test('costUsd() counts cached input as ordinary input when its price is unknown', () => {
  const usage = { ...NOTHING, input: 2 * MILLION, cache_read: MILLION }
  assert.equal(costUsd(usage, { inputUsd: 2, outputUsd: 10 }), 4)
})

test('costUsd() is unknown while a price is', () => {
  assert.equal(costUsd(NOTHING, {}), undefined)
  assert.equal(costUsd(NOTHING, { inputUsd: 1 }), undefined)
  assert.equal(costUsd(NOTHING, { inputUsd: 0, outputUsd: 0 }), 0)
})

test('knownFacts() knows Bedrock’s names of Claude models, with prices where they are the same', () => {
  const own = knownFacts('claude-haiku-4-5')
  assert.deepEqual(knownFacts('global.anthropic.claude-haiku-4-5-20251001-v1:0'), own)
  assert.deepEqual(knownFacts('anthropic.claude-haiku-4-5-20251001-v1:0'), own)
  assert.deepEqual(knownFacts('bedrock/eu.anthropic.claude-haiku-4-5'), { context: own.context })
  assert.deepEqual(knownFacts('anthropic.claude-nobody-v1:0'), {})
})
