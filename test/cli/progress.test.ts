import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withProgress } from '../../src/cli/progress.ts'
import { makeTestHost } from '../support/test-host.ts'
import { until } from '../support/until.ts'

test('withProgress() shows a line on a terminal while it waits, and erases it', async () => {
  await using at = await makeTestHost({ terminals: ['stderr'], columns: 24 })
  const { promise, resolve } = Promise.withResolvers<string>()
  const shown = withProgress(at.host, `starting \u001b[31m${'fs '.repeat(20)}`, promise)
  await until('it is shown', () => at.stderr() !== '')
  assert.equal(at.stderr(), '\r\u001b[2Kstarting fs fs fs fs  …')
  resolve('done')
  assert.equal(await shown, 'done')
  await at.host.stderr.flush()
  assert.ok(at.stderr().endsWith('…\r\u001b[2K'))
})

test('withProgress() rethrows a failure, and shows nothing for work that is done immediately', async () => {
  await using at = await makeTestHost({ terminals: ['stderr'] })
  await assert.rejects(withProgress(at.host, 'x', Promise.reject(new Error('no'))), { message: 'no' })
  await at.host.stderr.flush()
  assert.equal(at.stderr(), '')
})

for (const [where, options] of [
  ['a pipe', {}],
  ['a dumb terminal', { terminals: ['stderr'], env: { TERM: 'dumb' } }],
] as const) {
  test(`withProgress() shows nothing on ${where}`, async ({ mock }) => {
    await using at = await makeTestHost(options)
    mock.timers.enable({ apis: ['setTimeout'] })
    const { promise, resolve } = Promise.withResolvers<string>()
    const shown = withProgress(at.host, 'x', promise)
    mock.timers.tick(60_000)
    resolve('done')
    assert.equal(await shown, 'done')
    await at.host.stderr.flush()
    assert.equal(at.stderr(), '')
  })
}
