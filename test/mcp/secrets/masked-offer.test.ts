import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactWords } from '../../../src/core/base/secrets/redact.ts'
import { maskOffer } from '../../../src/mcp/secrets/mask.ts'

test('maskOffer() masks the longer of two secrets with the same start in full, in any order', () => {
  const secrets = ['hunter2-abc', 'hunter2-abc-and-more']
  const about = { title: 't', description: 'uses hunter2-abc-and-more', instructions: '' }
  const offer = {
    list: { tools: [], dropped: [] },
    about: { ...about, hasResources: false, hasPrompts: false },
  }
  assert.equal(maskOffer(offer, secrets).about.description, 'uses [secret]')
})

test('redactWords() masks the value of an Authorization header in a script', () => {
  const script = (value: string) => `curl -H 'Authorization: Token ${value}' https://h`
  assert.deepEqual(redactWords(['sh', '-c', script('abc123def')]), ['sh', '-c', script('[secret]')])
})
