import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nameTools } from '../../../src/mcp/tools/tool-names.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('nameTools() names a tool after its server, in characters that every model accepts', () => {
  const tools = ['read_file', 'read/file', 'Größe 🦀', '', 'a-b']
  assert.deepEqual(nameTools([{ name: 'my-fs', tools }]), [
    [
      'mcp__my-fs__read_file',
      'mcp__my-fs__read_file_c03b9360',
      'mcp__my-fs__Gr__e__',
      'mcp__my-fs___',
      'mcp__my-fs__a-b',
    ],
  ])
})

test('nameTools() adds 8 digits of the hash of server and tool to a taken name', () => {
  assert.deepEqual(nameTools([{ name: 'fs', tools: ['read/file', 'read.file'] }]), [
    ['mcp__fs__read_file', 'mcp__fs__read_file_312b0c02'],
  ])
})

test('nameTools() shortens a name to 64 characters', () => {
  const [[name]] = nameTools([{ name: 'everything', tools: ['x'.repeat(120)] }]) as [[string]]
  assert.equal(name.length, 64)
  assert.match(name, /^mcp__everything__x+_884cd503$/)
})

test('nameTools() leaves no run of underscores before the digits', () => {
  const tool = `${'y'.repeat(40)}____________________`
  const [[name]] = nameTools([{ name: 'fs', tools: [tool] }]) as [[string]]
  assert.match(name, /^mcp__fs__y{40}_[0-9a-f]{8}$/)
})

test('nameTools() keeps exactly 64 characters as they are', () => {
  const tool = 'z'.repeat(64 - 'mcp__fs__'.length)
  assert.deepEqual(nameTools([{ name: 'fs', tools: [tool] }]), [[`mcp__fs__${tool}`]])
})

test('nameTools() lets the server that was declared first keep its name', () => {
  const servers = [
    { name: 'a', tools: ['b__c'] },
    { name: 'a__b', tools: ['c'] }, // no configuration has such a name; two names could then be alike
  ]
  const [[first], [second]] = nameTools(servers) as [[string], [string]]
  assert.equal(first, 'mcp__a__b__c')
  assert.match(second, /^mcp__a__b__c_[0-9a-f]{8}$/)
})

test('nameTools() gives every tool a unique name, the same each time', () => {
  const tool = fc.oneof(
    fc.string(),
    fc.constantFrom('a b', 'a.b', 'a/b', 'a_b', 'x'.repeat(70), `${'x'.repeat(70)}.`),
  )
  const tools = fc.uniqueArray(tool, { maxLength: 30 })
  fc.assert(
    fc.property(tools, tools, (mine, yours) => {
      const servers = [
        { name: 'mine', tools: mine },
        { name: 'yours', tools: yours },
      ]
      const names = nameTools(servers).flat()
      assert.equal(new Set(names).size, mine.length + yours.length)
      for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
      assert.deepEqual(nameTools(servers).flat(), names)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
