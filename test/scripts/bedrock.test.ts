import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { withoutDefault } from '../../scripts/sea/bedrock.ts'

const installed = new URL('../../node_modules/@ai-sdk/amazon-bedrock/dist/index.js', import.meta.url)

test('withoutDefault() removes the default provider from the installed @ai-sdk/amazon-bedrock', async () => {
  const module = await readFile(installed, 'utf8')
  const changed = withoutDefault(module)!
  assert.match(changed, /^var amazonBedrock;$/m)
  assert.doesNotMatch(changed, /= createAmazonBedrock\(\)/)
  assert.ok(changed.includes('function createAmazonBedrock('))
})

test('withoutDefault() rejects a module without one', () => {
  assert.equal(withoutDefault('export const x = 1'), undefined)
})
