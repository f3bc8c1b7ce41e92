import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeTime, ulid } from 'ulid'
import { derivedAgentId, isAgentId, isMadeFor, newAgentId } from '../../../src/core/config/agent-id.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('newAgentId() returns distinct ULIDs that match their name', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (name, other) => {
      const id = newAgentId(name)
      assert.ok(isAgentId(id))
      assert.notEqual(newAgentId(name), id)
      assert.ok(isMadeFor(id, name))
      assert.equal(isMadeFor(id, `${name}${other}x`), false)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('derivedAgentId() depends only on name and time, and encodes the time', () => {
  const id = derivedAgentId('crab', 1_700_000_000_000.25)
  assert.equal(id, derivedAgentId('crab', 1_700_000_000_000.25))
  assert.equal(decodeTime(id), 1_700_000_000_000)
  assert.ok(isAgentId(id))
  assert.ok(isMadeFor(id, 'crab'))
  assert.notEqual(id, derivedAgentId('crab', 1_700_000_000_000.5))
  assert.notEqual(id, derivedAgentId('lobster', 1_700_000_000_000.25))
  assert.ok(isAgentId(derivedAgentId('crab', -5)))
})

test('isMadeFor() treats spellings of one name as equal, and is false for ids of other programs', () => {
  assert.ok(isMadeFor(newAgentId('\u00c9tude'), 'e\u0301tude'))
  assert.equal(isMadeFor(ulid(), 'crab'), false)
})

for (const value of [undefined, 3, '', 'x', '01jzzzzzzzzzzzzzzzzzzzzzzz', '81JZZZZZZZZZZZZZZZZZZZZZZZ']) {
  test(`${JSON.stringify(value)} is not an agent id`, () => assert.equal(isAgentId(value), false))
}
