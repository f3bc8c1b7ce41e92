import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_SELECTED_TOOLS } from '../../../src/core/base/tool-limits.ts'
import { NO_HISTORY, replay } from '../../../src/core/runtime/conversation.ts'
import { SelectedTools } from '../../../src/core/runtime/selected-tools.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const name = fc.integer({ min: 0, max: 60 }).map((n) => `t${n}`)
const uses = fc.array(fc.array(name, { maxLength: MAX_SELECTED_TOOLS }), { maxLength: 40 })

test('SelectedTools has the tools that were used last, up to the limit', () => {
  fc.assert(
    fc.property(uses, (calls) => {
      const selection = new SelectedTools([])
      for (const call of calls) {
        selection.use(call)
        assert.ok(selection.names.length <= MAX_SELECTED_TOOLS)
      }
      assert.deepEqual(selection.names, lastDistinct(calls.flat()))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('SelectedTools.use() returns exactly what was removed', () => {
  fc.assert(
    fc.property(uses, (calls) => {
      const selection = new SelectedTools([])
      for (const call of calls) {
        const before = selection.names
        const left = selection.use(call)
        assert.deepEqual(
          left,
          before.filter((one) => !selection.names.includes(one)),
        )
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('SelectedTools can be replayed from its stored changes, wherever these were cut', () => {
  fc.assert(
    fc.property(uses, fc.array(fc.boolean(), { maxLength: 40 }), (calls, cuts) => {
      const selection = new SelectedTools([])
      let history = NO_HISTORY
      for (const [i, call] of [...calls, []].entries()) {
        selection.use(call)
        if (cuts[i] === false && i < calls.length) continue
        const tools = [...selection.takeUnstored()]
        history = replay(history, [{ kind: 'event', event: 'tools_used', tools, seq: i + 1, ts: '' }])
        assert.deepEqual(history.tools, selection.names)
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('SelectedTools has nothing to store when the tool that was used last is used again', () => {
  const selection = new SelectedTools(['a', 'b'])
  assert.deepEqual(selection.use(['b']), [])
  assert.deepEqual(selection.takeUnstored(), [])
  selection.use(['a'])
  assert.deepEqual(selection.takeUnstored(), ['a'])
  assert.deepEqual(selection.takeUnstored(), [])
})

function lastDistinct(names: readonly string[]): string[] {
  const last = names.filter((one, i) => names.lastIndexOf(one) === i)
  return last.slice(-MAX_SELECTED_TOOLS)
}
