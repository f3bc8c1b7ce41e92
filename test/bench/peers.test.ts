import assert from 'node:assert/strict'
import { chmod, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { findPeers } from '../../bench/peers.ts'
import { makeTree } from '../support/trees.ts'

const place = (homes: string) => ({ homes, modelUrl: 'http://127.0.0.1:9/v1', cwd: '/work' })

test('findPeers() gives each known program a home that points at the model server', async () => {
  await using tree = await makeTree({
    'node_modules/.bin/codex': '#!/bin/sh\necho "codex-cli 1.2.3"\n',
    'node_modules/.bin/unheard-of': '#!/bin/sh\n',
  })
  await chmod(tree.path('node_modules/.bin/codex'), 0o755)
  const [codex, ...more] = await findPeers(tree.root, place(tree.path('homes')))
  assert.deepEqual(more, [])
  assert.equal(codex?.name, 'codex 1.2.3')
  assert.deepEqual(codex.env, { HOME: tree.path('homes/codex') })
  const config = await readFile(tree.path('homes/codex/.codex/config.toml'), 'utf8')
  assert.match(config, /^base_url = "http:\/\/127\.0\.0\.1:9\/v1"$/m)
})

test('findPeers() returns a program that does not run without a version', async () => {
  await using tree = await makeTree({ 'node_modules/.bin/codex': '#!/bin/sh\nexit 1\n' })
  await chmod(tree.path('node_modules/.bin/codex'), 0o755)
  const peers = await findPeers(tree.root, place(tree.path('homes')))
  assert.deepEqual(
    peers.map(({ name }) => name),
    ['codex'],
  )
})

test('findPeers() finds nothing in an empty folder, and does not search without one', async () => {
  await using tree = await makeTree({ 'package.json': '{}' })
  assert.deepEqual(await findPeers(tree.root, place(tree.root)), [])
  assert.deepEqual(await findPeers(undefined, place(tree.root)), [])
})
