import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { Script } from 'node:vm'
import { openGarbageCollector } from '../../bin/garbage-collector.ts'

const SOURCE = '(function add(a, b) { return a + b })'

test('openGarbageCollector() leaves code caches valid', () => {
  const cachedData = new Script(SOURCE).createCachedData()
  openGarbageCollector().collectAll()
  assert.equal(new Script(SOURCE, { cachedData }).cachedDataRejected, false)
})

test('collectYoung() frees new objects once there are some MB of them', () => {
  const collector = openGarbageCollector()
  collector.collectAll()
  makeGarbage(1e6)
  const few = readYoungBytes()
  collector.collectYoung()
  assert.ok(readYoungBytes() >= few)
  makeGarbage(4e6)
  collector.collectYoung()
  assert.ok(readYoungBytes() < 2e6)
})

/** Makes unused objects of about this size together. */
function makeGarbage(bytes: number): void {
  let last: unknown
  for (let at = 0; at < bytes; at += 1000) last = new Array(125).fill(last === at)
}

function readYoungBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')!.space_used_size
}
