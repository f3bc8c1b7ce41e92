import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'smol-toml'
import { keyLineFinder, scanToml } from '../../../src/core/config/toml-scan.ts'
import type { KeyPath } from '../../../src/core/config/validation-issue.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { tomlTexts } from '../../support/toml-texts.ts'

test('scanToml() finds every value where the parser does, in any TOML text', () => {
  fc.assert(
    fc.property(tomlTexts(), (text) => {
      const table = parse(text)
      const items = [...scanToml(text)]
      for (const { kind, path, start, valueStart, end } of items) {
        if (kind === 'table') continue
        const value = text.slice(valueStart, end)
        assert.deepEqual(parse(`v = ${value}`)['v'], valueAt(table, path))
        if (kind === 'pair') assert.deepEqual(leaves(parse(`${text.slice(start, valueStart)}1`)).length, 1)
      }
      const found = new Set(items.map(({ path }) => JSON.stringify(path)))
      for (const leaf of leaves(table)) assert.ok(found.has(JSON.stringify(leaf)), JSON.stringify(leaf))
    }),
    { numRuns: propertyRuns(1000) },
  )
})

test('keyLineFinder() returns the line of the key', () => {
  fc.assert(
    fc.property(tomlTexts(), (text) => {
      const findLine = keyLineFinder(text)
      const lines = text.split('\n')
      for (const { path, kind, start, valueStart } of scanToml(text)) {
        if (kind !== 'pair') continue
        const key = text.slice(start, valueStart)
        assert.ok(lines[findLine(path) - 1]?.includes(key), key)
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

const TEXT = `# about
model = "m" # not [this]
"odd.key" = 1
a . b . 'c' = true

[env]
PATH = """
x = 1
"""

[[mcps]]
name = "one"
args = [
  "-y", # first
  "x",
]

[[mcps]]
name = "two"
env = { A = "1", B.C = "2" }
[mcps.origin.canonical]
x = 1979-05-27 07:32:00
`

for (const [path, line] of [
  [['model'], 2],
  [['odd.key'], 3],
  [['a', 'b'], 4],
  [['a', 'b', 'c'], 4],
  [['env'], 6],
  [['env', 'PATH'], 7],
  [['mcps'], 11],
  [['mcps', 0], 11],
  [['mcps', 0, 'args'], 13],
  [['mcps', 0, 'args', 1], 15],
  [['mcps', 0, 'missing'], 11],
  [['mcps', 1, 'name'], 19],
  [['mcps', 1, 'env', 'B', 'C'], 20],
  [['mcps', 1, 'origin'], 21],
  [['mcps', 1, 'origin', 'canonical', 'x'], 22],
  [['nowhere'], 1],
] as [KeyPath, number][]) {
  test(`keyLineFinder() finds ${JSON.stringify(path)}`, () => {
    assert.equal(keyLineFinder(TEXT)(path), line)
  })
}

function valueAt(root: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<string | number, unknown>)[part], root)
}

/** Returns the paths of all values that are neither tables nor contain one. */
function leaves(value: unknown, path: KeyPath = []): KeyPath[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [path]
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, inner]) => leaves(inner, [...path, key]))
}
