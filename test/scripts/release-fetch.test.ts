import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fetchFile } from '../../scripts/release/fetch.ts'
import { openRegistry } from '../support/registry.ts'
import { makeTree } from '../support/trees.ts'

const NODE = { package: 'node-plan9', file: 'bin/node' }

test('fetchFile() unpacks the locked file, and detects a changed one', async () => {
  await using registry = await openRegistry()
  const publish = (text: string, version: string) =>
    registry.publish({ manifest: { name: NODE.package, version }, files: { 'bin/node': text, LICENSE: '' } })
  await publish('the node', '26.0.0')
  const { dist } = registry.find('node-plan9@26.0.0')!.shown as { dist: { integrity: string } }
  const locked = { version: '26.0.0', integrity: dist.integrity }
  const lock = JSON.stringify({ packages: { 'node_modules/node-plan9': locked } })
  await using tree = await makeTree({ 'lock.json': lock, 'cache/': '' })
  const place = {
    cache: tree.path('cache'),
    lock: tree.path('lock.json'),
    env: { ...process.env, ...registry.env },
  }

  assert.equal(readFileSync(await fetchFile(NODE, place), 'utf8'), 'the node')
  const requestCount = registry.requests.length
  writeFileSync(await fetchFile(NODE, place), 'changed after it was unpacked')
  assert.equal(readFileSync(await fetchFile(NODE, place), 'utf8'), 'the node')
  assert.equal(registry.requests.length, requestCount, 'the tarball is kept')

  writeFileSync(tree.path('cache/node-plan9-26.0.0.tgz'), 'changed on the disk')
  assert.equal(readFileSync(await fetchFile(NODE, place), 'utf8'), 'the node')

  writeFileSync(tree.path('lock.json'), lock.replace(dist.integrity, `sha512-${'A'.repeat(86)}==`))
  await assert.rejects(
    fetchFile(NODE, place),
    /Cannot use node-plan9@26\.0\.0: it is not what package-lock\.json names/,
  )
  await assert.rejects(
    fetchFile({ package: 'other', file: 'x' }, place),
    /package-lock\.json does not name it/,
  )
})
