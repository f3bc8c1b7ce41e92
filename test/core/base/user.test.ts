import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { userDirectory, userName } from '../../../src/core/base/user.ts'

test('userDirectory() is the directory of this user', () => {
  assert.equal(userDirectory(), homedir())
})

test('userDirectory() and userName() return undefined for a user id without an account', () => {
  const file = join(import.meta.dirname, '../../../src/core/base/user.ts')
  const code = `import(${JSON.stringify(file)}).then(({ userDirectory, userName }) => {
    console.log(JSON.stringify([userDirectory(), userName() ?? null]))
  })`
  const isRoot = process.getuid?.() === 0 // only root may become another user
  const env = isRoot ? {} : { HOME: homedir() }
  const text = execFileSync(process.execPath, ['-e', code], {
    encoding: 'utf8',
    cwd: '/',
    env,
    ...(isRoot && { uid: 54_321, gid: 54_321 }),
  })
  assert.deepEqual(JSON.parse(text), isRoot ? ['', null] : [homedir(), userName() ?? null])
})
