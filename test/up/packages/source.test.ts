import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Npm } from '../../../src/up/packages/npm.ts'
import { takePackage } from '../../../src/up/packages/source.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const NO_NPM: Npm = {
  view: () => Promise.reject(new Error('none')),
  pack: () => Promise.reject(new Error('none')),
  install: () => Promise.reject(new Error('none')),
}

test('takePackage() names an invalid tarball as the user did, not the copy that it reads', async () => {
  await using home = await temporaryHome()
  await home.write('thing.tgz', 'no gzip')
  const path = join(home.paths.home, 'thing.tgz')
  const folder = join(home.paths.home, 'staging')
  await mkdir(folder)
  await assert.rejects(takePackage({ kind: 'tarball', path }, { npm: NO_NPM, folder }, NEVER), {
    kind: 'invalid',
    message: `Cannot use ${path}: it is not a complete gzip file`,
  })
})

const NEVER = new AbortController().signal
