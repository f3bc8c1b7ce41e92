import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { codeOf } from '../../../src/core/base/system-error.ts'

test('codeOf() gives the code of a failed system call, and nothing for anything else', async () => {
  const failed = await stat('/no/such/file').catch((reason: unknown) => reason)
  assert.equal(codeOf(failed), 'ENOENT')
  for (const other of [
    new Error('no'),
    Object.assign(new Error('no'), { code: 3 }),
    'ENOENT',
    undefined,
    null,
  ])
    assert.equal(codeOf(other), '')
})
