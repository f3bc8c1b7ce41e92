import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRESETS, UNSUPPORTED_KEYS } from '../../../src/core/provider/presets.ts'
import { withoutProviderKeys } from '../../../src/core/provider/provider-keys.ts'

test('withoutProviderKeys() leaves out every key of a provider, in whatever case', () => {
  const names = [...PRESETS.flatMap(({ keys }) => keys), ...UNSUPPORTED_KEYS]
  names.push('AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_ACCESS_KEY_ID', 'openai_api_key')
  assert.deepEqual(withoutProviderKeys(Object.fromEntries(names.map((name) => [name, 'secret']))), {})
})

test('withoutProviderKeys() keeps what the tools of a person need', () => {
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
