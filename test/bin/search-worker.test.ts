import assert from 'node:assert/strict'
import { existsSync, symlinkSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { findSiblingWorker } from '../../bin/search-worker.ts'
import { SEARCH_WORKER } from '../support/search-worker.ts'

const SCRIPT = resolve(import.meta.dirname, '../../bin/crabtalk.ts')

test('findSiblingWorker() finds the program in the tree of a script, through links too', async () => {
  assert.ok(existsSync(SEARCH_WORKER))
  assert.equal(findSiblingWorker(SCRIPT)?.href, SEARCH_WORKER.href)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-link-'))
  symlinkSync(SCRIPT, join(folder.path, 'crabtalk'))
  assert.equal(findSiblingWorker(join(folder.path, 'crabtalk'))?.href, SEARCH_WORKER.href)
})

test('findSiblingWorker() returns nothing for scripts elsewhere or missing ones', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-link-'))
  assert.equal(findSiblingWorker(join(folder.path, 'missing.ts')), undefined)
  assert.equal(findSiblingWorker(process.execPath), undefined)
  assert.equal(findSiblingWorker(''), undefined)
})
