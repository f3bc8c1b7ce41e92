import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitEffort, listEfforts } from '../../../src/core/provider/efforts.ts'

test('listEfforts() knows the levels of a model, whatever provider is named before it', () => {
  const table = {
    'claude-opus-5-5': 'low medium high xhigh max',
    'anthropic/claude-sonnet-5-5': 'low medium high xhigh max',
    'global.anthropic.claude-sonnet-5-5': 'low medium high xhigh max',
    'claude-sonnet-4-6': 'low medium high max',
    'claude-haiku-4-5-20251001': 'low medium high',
    'claude-3-5-haiku-latest': '',
    'gpt-6-sol': 'low medium high xhigh max',
    'gpt-5.4-mini': 'low medium high xhigh',
    'gpt-5.1': 'low medium high',
    'gpt-5-mini': 'minimal low medium high',
    'gpt-5-chat-latest': '',
    'gpt-4o': '',
    'o3-mini': 'low medium high',
    'openai/gpt-oss-120b': 'low medium high',
    'gemini-3.8-flash': 'minimal low medium high',
    'gemini-2.5-pro': 'low medium high',
    qwen3: '',
  }
  for (const [model, levels] of Object.entries(table))
    assert.equal(listEfforts(model).join(' '), levels, model)
})

test('fitEffort() takes the next lower level, and sends unknown models only what a turn requests', () => {
  const fit = (model: string, requested?: 'minimal' | 'high' | 'max', usual?: 'minimal' | 'xhigh') =>
    fitEffort(model, { requested, usual })
  assert.equal(fit('claude-opus-5-5', 'max', 'minimal'), 'max')
  assert.equal(fit('claude-haiku-4-5', 'max'), 'high')
  assert.equal(fit('claude-haiku-4-5', 'minimal'), 'low')
  assert.equal(fit('gpt-5-mini', undefined, 'xhigh'), 'high')
  assert.equal(fit('qwen3', 'high'), 'high')
  assert.equal(fit('qwen3', undefined, 'xhigh'), undefined)
  assert.equal(fit('claude-opus-5-5'), undefined)
})
