import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { getErrorCode, isMissing } from '../../../src/core/base/system-error.ts'

test('codeOf() gives the code of a failed system call, and nothing for anything else', async () => {
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

test('isMissing() is true for a path with nothing at it, also below a file, and false for other failures', async () => {
  const failureOf = async (path: string) => await stat(path).catch((reason: unknown) => reason)
  assert.equal(isMissing(await failureOf('/no/such/file')), true)
  assert.equal(isMissing(await failureOf(`${import.meta.filename}/below`)), true)
  assert.equal(isMissing(await failureOf(`/${'x'.repeat(5000)}`)), false)
  assert.equal(isMissing(undefined), false)
})
