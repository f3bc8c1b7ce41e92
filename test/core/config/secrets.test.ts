import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultAgent } from '../../../src/core/config/default-agent.ts'
import { findPlaceholders, REDACTED, redact, restoreSecrets } from '../../../src/core/config/secrets.ts'

const STORED = [
  { name: 'fs', command: 'x', args: ['--flag'], env: { TOKEN: 'hush', LOG: '1' } },
  { name: 'web', url: 'http://localhost', headers: { 'X-Key': 'hush' }, auth: 'Bearer hush' },
]

test('redact() hides env, header and auth values, and nothing else', () => {
  const shown = redact({ ...defaultAgent(), mcps: STORED })
  assert.deepEqual(shown, {
    ...defaultAgent(),
    mcps: [
      { name: 'fs', command: 'x', args: ['--flag'], env: { TOKEN: REDACTED, LOG: REDACTED } },
      { name: 'web', url: 'http://localhost', headers: { 'X-Key': REDACTED }, auth: REDACTED },
    ],
  })
  assert.equal(REDACTED, '[secret]')
})

test('restoreSecrets() undoes redact(), and keeps what was changed', () => {
  const { mcps } = redact({ ...defaultAgent(), mcps: STORED })
  assert.deepEqual(restoreSecrets(mcps, STORED), STORED)
  const changed = [{ ...mcps[0], env: { TOKEN: REDACTED, LOG: '2' } }]
  assert.deepEqual(restoreSecrets(changed, STORED), [{ ...STORED[0], env: { TOKEN: 'hush', LOG: '2' } }])
})

test('findPlaceholders() names every one that stayed', () => {
  const mcps = restoreSecrets(
    [
      { name: 'new', url: 'x', auth: REDACTED },
      { name: 'fs', env: { OTHER: REDACTED, TOKEN: REDACTED }, headers: { A: REDACTED } },
    ],
    STORED,
  )
  assert.deepEqual(
    findPlaceholders(mcps).map(({ message }) => message),
    [
      '"mcps[0].auth" is [secret], and there is no stored value to keep',
      '"mcps[1].env.OTHER" is [secret], and there is no stored value to keep',
      '"mcps[1].headers.A" is [secret], and there is no stored value to keep',
    ],
  )
})

test('restoreSecrets() leaves what is no list of tables to the schema', () => {
  assert.equal(restoreSecrets('x', STORED), 'x')
  assert.deepEqual(restoreSecrets(['x', null], undefined), ['x', null])
  assert.deepEqual(findPlaceholders(undefined), [])
})
