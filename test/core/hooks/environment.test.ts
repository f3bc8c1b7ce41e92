import assert from 'node:assert/strict'
import { arch, platform } from 'node:os'
import { test } from 'node:test'
import { environmentHook } from '../../../src/core/hooks/environment.ts'
import { CONTEXT_TURN } from '../../support/context-turn.ts'

process.env['TZ'] = 'UTC' // of this file's process only
const now = () => Date.parse('2026-03-01T12:00:00Z')

test('environmentHook() reports system, shell, folder and day', async () => {
  assert.equal(
    await environmentHook({ shell: '/bin/zsh', now }).context?.('/work', CONTEXT_TURN),
    [
      '<environment>',
      `os: ${platform()} ${arch()}`,
      'shell: /bin/zsh',
      'cwd: /work',
      'date: 2026-03-01',
      '</environment>',
    ].join('\n'),
  )
})

test('environmentHook() omits an unknown shell', async () => {
  assert.doesNotMatch(
    (await environmentHook({ shell: undefined, now }).context?.('/', CONTEXT_TURN)) ?? '',
    /shell/,
  )
})

test('environmentHook() reports the same all day', async () => {
  const later = () => now() + 3_600_000
  const [early, late] = [now, later].map((clock) => environmentHook({ shell: undefined, now: clock }))
  assert.equal(await early?.context?.('/', CONTEXT_TURN), await late?.context?.('/', CONTEXT_TURN))
})

test('environmentHook() reports the local day', async (context) => {
  context.after(() => {
    process.env['TZ'] = 'UTC'
  })
  process.env['TZ'] = 'Pacific/Auckland'
  assert.match(
    (await environmentHook({ shell: undefined, now }).context?.('/', CONTEXT_TURN)) ?? '',
    /date: 2026-03-02/,
  )
})
