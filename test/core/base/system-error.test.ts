import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { getErrorCode, isMissing } from '../../../src/core/base/system-error.ts'

test('getErrorCode() returns the code of a failed system call, and undefined for anything else', async () => {
  const failed = await stat('/no/such/file').catch((reason: unknown) => reason)
  assert.equal(getErrorCode(failed), 'ENOENT')
  for (const other of [
    new Error('no'),
    Object.assign(new Error('no'), { code: 3 }),
    'ENOENT',
    undefined,
    null,
  ])
    assert.equal(getErrorCode(other), '')
})

test('isMissing() is true for a missing path, also below a file, and false for other errors', async () => {
  const catchFailure = async (path: string) => await stat(path).catch((reason: unknown) => reason)
  assert.equal(isMissing(await catchFailure('/no/such/file')), true)
  assert.equal(isMissing(await catchFailure(`${import.meta.filename}/below`)), true)
  assert.equal(isMissing(await catchFailure(`/${'x'.repeat(5000)}`)), false)
  assert.equal(isMissing(undefined), false)
})
