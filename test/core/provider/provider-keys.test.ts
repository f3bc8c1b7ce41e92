import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRESETS } from '../../../src/core/provider/presets.ts'
import { withoutProviderKeys } from '../../../src/core/provider/provider-keys.ts'

test('withoutProviderKeys() removes every key of a provider, in any case', () => {
  const names = PRESETS.flatMap(({ keys }): string[] => [...keys])
  names.push(
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'openai_api_key',
    'ANTHROPIC_AUTH_TOKEN',
    'CRABTALK_VAULT_KEY',
  )
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_BEARER_TOKEN_BEDROCK', 'AZURE_API_KEY', 'GOOGLE_API_KEY'])
    assert.ok(names.includes(name), name)
  assert.deepEqual(withoutProviderKeys(Object.fromEntries(names.map((name) => [name, 'secret']))), {})
})

test("withoutProviderKeys() keeps what the user's tools need", () => {
  const env = {
    PATH: '/bin',
    HOME: '/home/me',
    SSH_AUTH_SOCK: '/run/agent',
    GH_TOKEN: 't',
    NPM_TOKEN: 't',
    GIT_ASKPASS: 'x',
    AWS_PROFILE: 'dev',
    AWS_REGION: 'eu-west-1',
    HTTPS_PROXY: 'http://proxy',
    EMPTY: '',
  }
  assert.deepEqual(withoutProviderKeys({ ...env, UNSET: undefined, ANTHROPIC_API_KEY: 'k' }), env)
})
