import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'smol-toml'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { mergePatch } from '../../../src/core/config/merge-patch.ts'
import { appendToList } from '../../../src/core/config/toml-append.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { tomlTexts } from '../../support/toml-texts.ts'

const PLACE = ['permissions', 'allow'] as const

test('appendToList() adds to a list in any place and form', () => {
  const texts: [before: string, after: string][] = [
    ['', '[permissions]\nallow = ["new"]\n'],
    ['# Mine.\nmodel = "m" # big', '# Mine.\nmodel = "m" # big\n\n[permissions]\nallow = ["new"]\n'],
    ['a = 1\r\n\r\n', 'a = 1\r\n\r\n[permissions]\r\nallow = ["new"]\r\n'],
    ['[permissions]\nallow = []\n', '[permissions]\nallow = ["new"]\n'],
    ['[permissions]\nallow = [ ] # none\n', '[permissions]\nallow = ["new"] # none\n'],
    ['[permissions]\nallow = ["a"] # one\n', '[permissions]\nallow = ["a", "new"] # one\n'],
    ['[permissions]\nallow = ["a", "b" , ]', '[permissions]\nallow = ["a", "b", "new"]'],
    ["permissions.allow = ['a']\n", 'permissions.allow = [\'a\', "new"]\n'],
    ['permissions = { allow = ["a"] } # x\n', 'permissions = { allow = ["a", "new"] } # x\n'],
    [
      '[permissions]\ndeny = ["x"] # never\n\n[[mcps]]\nname = "n"\n',
      '[permissions]\ndeny = ["x"] # never\nallow = ["new"]\n\n[[mcps]]\nname = "n"\n',
    ],
    [
      '[permissions]\nallow = [\n\t"a", # first\n\t# for the tests\n\t"b" # no comma\n] # end\nask = []\n',
      '[permissions]\nallow = [\n\t"a", # first\n\t# for the tests\n\t"b", # no comma\n\t"new",\n] # end\nask = []\n',
    ],
    [
      '[permissions]\nallow = [\n  "a",\n  # "b",\n  ]\n',
      '[permissions]\nallow = [\n  "a",\n  # "b",\n  "new",\n  ]\n',
    ],
    ['[permissions]\nallow = [\n  # none yet\n]\n', '[permissions]\nallow = [\n  # none yet\n  "new",\n]\n'],
    ['[permissions]\nallow = ["a",\n"b"]\n', '[permissions]\nallow = ["a",\n"b",\n"new",\n]\n'],
    [
      '[permissions]\r\nallow = [\r\n  "a",\r\n]\r\n',
      '[permissions]\r\nallow = [\r\n  "a",\r\n  "new",\r\n]\r\n',
    ],
  ]
  for (const [before, after] of texts) assert.equal(appendToList(before, PLACE, 'new'), after)
})

test('appendToList() makes the intended change in any text, and no other', () => {
  const list = fc.constantFrom(
    '',
    '[permissions]\n',
    '[permissions]\nallow = []\n',
    "[permissions]\nallow = [ \"#]\", # \"\n  'it''s', ]\n".replace("''", ''),
    '[permissions]\ndeny = ["a"]\n# [permissions]\nallow = [\n"""x""" # a, b\n,\n]\n',
  )
  fc.assert(
    fc.property(tomlTexts(), list, fc.string({ unit: 'grapheme' }), (text, permissions, value) => {
      const before = `${text}\n${permissions}`
      const table = parse(before) as JsonObject
      const old = (table['permissions'] as JsonObject | undefined)?.['allow'] as string[] | undefined
      const after = mergePatch(table, { permissions: { allow: [...(old ?? []), value.toWellFormed()] } })
      assert.deepEqual(structuredClone(parse(appendToList(before, PLACE, value))), structuredClone(after))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
