import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProviderKind } from '../../../src/core/config/config-schema.ts'
import { toBaseUrl, type Wire, wireAt } from '../../../src/core/provider/address.ts'

const CASES: [ProviderKind, string, Wire, string][] = [
  ['openai', 'https://api.openai.com/v1', 'responses', 'https://api.openai.com/v1'],
  ['openai', 'https://eu.api.openai.com/v1/', 'responses', 'https://eu.api.openai.com/v1'],
  ['openai', 'https://api.openai.com.evil.test/v1', 'chat', 'https://api.openai.com.evil.test/v1'],
  ['openai', 'http://localhost:4000', 'chat', 'http://localhost:4000/v1'],
  ['openai', 'http://localhost:4000/v1/chat/completions', 'chat', 'http://localhost:4000/v1'],
  ['openai', 'http://localhost:4000/v1/responses', 'responses', 'http://localhost:4000/v1'],
  ['openai', 'http://localhost:4000/responses/', 'responses', 'http://localhost:4000/v1'],
  ['openai-compatible', 'https://api.openai.com/v1', 'chat', 'https://api.openai.com/v1'],
  ['anthropic', 'http://localhost:4000', 'messages', 'http://localhost:4000/v1'],
  ['anthropic', 'http://localhost:4000/a/v1/messages', 'messages', 'http://localhost:4000/a/v1'],
  ['google', 'http://localhost:4000', 'gemini', 'http://localhost:4000/v1beta'],
  ['google', 'http://localhost:4000/v1beta/', 'gemini', 'http://localhost:4000/v1beta'],
  ['google', 'https://g.test/v1beta/openai/', 'chat', 'https://g.test/v1beta/openai'],
  ['google', 'https://g.test/v1beta/openai/chat/completions', 'chat', 'https://g.test/v1beta/openai'],
  ['bedrock', 'http://localhost:4000/', 'converse', 'http://localhost:4000'],
  ['bedrock', 'http://gateway.test/bedrock', 'converse', 'http://gateway.test/bedrock'],
  ['azure', 'https://r.openai.azure.com', 'responses', 'https://r.openai.azure.com/openai/v1'],
  ['azure', 'https://r.openai.azure.com/openai', 'responses', 'https://r.openai.azure.com/openai/v1'],
  ['azure', 'https://r.openai.azure.com/openai/v1/', 'responses', 'https://r.openai.azure.com/openai/v1'],
  [
    'azure',
    'https://r.openai.azure.com/openai/v1/responses',
    'responses',
    'https://r.openai.azure.com/openai/v1',
  ],
  [
    ...([
      'azure',
      'https://r.services.ai.azure.com/openai/deployments/d/chat/completions?api-version=1',
    ] as const),
    ...(['responses', 'https://r.services.ai.azure.com/openai/v1'] as const),
  ],
  ['azure', 'https://gateway.test/team', 'responses', 'https://gateway.test/team/openai/v1'],
]

for (const [kind, address, wire, baseUrl] of CASES) {
  test(`wireAt() and toBaseUrl() read ${address} of kind ${kind} as ${wire} at ${baseUrl}`, () => {
    assert.equal(wireAt(kind, address), wire)
    assert.equal(toBaseUrl(address, kind, 'here'), baseUrl)
  })
}

test('toBaseUrl() rejects an address that is not HTTP', () => {
  for (const address of ['localhost:4000', 'ftp://x.test', '']) {
    assert.throws(() => toBaseUrl(address, 'openai', 'OPENAI_BASE_URL'), {
      kind: 'config',
      message: 'Cannot use base_url (OPENAI_BASE_URL): it is not an http address',
    })
  }
})
