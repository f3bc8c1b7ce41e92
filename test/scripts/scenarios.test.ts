import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCENARIOS } from '../../scripts/sea/scenarios.ts'
import { SERVICE_PLACEHOLDER } from '../../src/cli/service-rows.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'

test('SCENARIOS warm up and prove every command of the tables', () => {
  const programs = { crabtalk: CRABTALK, crabup: CRABUP }
  const missing = Object.entries(programs).flatMap(([program, commands]) =>
    commands
      .filter(({ path }) => !SCENARIOS.some((one) => one.program === program && startsWith(one.argv, path)))
      .map(({ path }) => [program, ...path].join(' ')),
  )
  assert.deepEqual(missing, [])
})

function startsWith(argv: readonly string[], path: readonly string[]): boolean {
  return path.every((word, index) => word === SERVICE_PLACEHOLDER || argv[index] === word)
}
