import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toConfig } from '../../../src/core/config/config.ts'
import { parseToml } from '../../../src/core/config/toml.ts'
import { modelVariables } from '../../../src/core/provider/model-variables.ts'
import { PRESETS } from '../../../src/core/provider/presets.ts'

function listVariables(text: string, env: Record<string, string> = {}): string[] {
  const document = parseToml('config.toml', text)
  assert.ok(document.ok)
  const config = toConfig(document.value)
  assert.ok(config.ok)
  return modelVariables(config.value, env)
}

test('modelVariables() lists all variables that are read when config.toml declares no provider', () => {
  const names = listVariables('')
  for (const { keys } of PRESETS) for (const key of keys) assert.ok(names.includes(key), key)
  assert.ok(names.includes('OPENAI_BASE_URL') && names.includes('AZURE_OPENAI_DEPLOYMENT'))
  assert.ok(!names.includes('AWS_REGION'))
  assert.deepEqual(names, [...new Set(names)])
})

test('modelVariables() is empty when config.toml is complete', () => {
  assert.deepEqual(listVariables('[llm]\nbase_url = "http://127.0.0.1:9/v1"\n'), [])
  const text = 'api_key = "k"\nbase_url = "https://example.org"\nmodels = ["m"]\n'
  assert.deepEqual(listVariables(`[[providers]]\nname = "a"\nkind = "anthropic"\n${text}`), [])
})

test('modelVariables() lists those that a declared provider omits', () => {
  const names = listVariables('[[providers]]\nname = "a"\nkind = "anthropic"\n')
  assert.deepEqual(names, ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'])
})

test('modelVariables() lists regions and profiles of AWS when Bedrock is used', () => {
  const declared = listVariables('[[providers]]\nname = "b"\nkind = "bedrock"\nregion = "eu-central-1"\n')
  assert.ok(declared.includes('AWS_SESSION_TOKEN') && !declared.includes('AWS_REGION'))
  const found = listVariables('', { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  assert.ok(found.includes('AWS_REGION') && found.includes('AWS_PROFILE'))
})
