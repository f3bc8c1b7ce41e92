import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LightHeaders } from '../../../src/core/provider/light-headers.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const name = fc.stringMatching(/^[A-Za-z][A-Za-z-]{0,5}$/)
const value = fc.stringMatching(/^[!-~]{0,8}$/)
const step = fc.oneof(
  fc.record({ do: fc.constantFrom('append' as const, 'set' as const), name, value }),
  fc.record({ do: fc.constant('delete' as const), name, value: fc.constant('') }),
)

test('LightHeaders does what Headers does', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), fc.array(step), name, (init, steps, probe) => {
      const [light, real] = [new LightHeaders(init), new Headers(init)]
      for (const headers of [light, real]) {
        for (const { do: verb, name: key, value: text } of steps) {
          if (verb === 'delete') headers.delete(key)
          else headers[verb](key, text)
        }
      }
      assert.deepEqual([...light].toSorted(), [...real])
      assert.deepEqual([...light.keys()].toSorted(), [...real.keys()])
      assert.equal(light.get(probe), real.get(probe))
      assert.equal(light.has(probe), real.has(probe))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('LightHeaders accepts a record and calls a visitor with value and name', () => {
  const headers = new LightHeaders({ 'X-One': '1', two: '2' })
  const seen: string[] = []
  headers.forEach((text, key) => {
    seen.push(`${key}=${text}`)
  })
  assert.deepEqual(seen, ['x-one=1', 'two=2'])
  assert.deepEqual([...headers.values()], ['1', '2'])
  assert.deepEqual(headers.getSetCookie(), [])
})
