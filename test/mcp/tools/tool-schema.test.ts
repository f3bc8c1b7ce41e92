import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listRequired, readToolSchema } from '../../../src/mcp/tools/tool-schema.ts'

const ACCEPTED: Record<string, [unknown, unknown]> = {
  'a missing schema': [undefined, { type: 'object', properties: {} }],
  'one without a type': [{ properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
  'one that is sound': [
    { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'], $schema: 'x' },
    { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'], $schema: 'x' },
  ],
  'one that refers to itself': [
    { type: 'object', properties: { next: { $ref: '#' } } },
    { type: 'object', properties: { next: { $ref: '#' } } },
  ],
  'a reference with escapes': [
    { type: 'object', properties: { a: { $ref: '#/$defs/a~1b%20c' } }, $defs: { 'a/b c': true } },
    { type: 'object', properties: { a: { $ref: '#/$defs/a~1b%20c' } }, $defs: { 'a/b c': true } },
  ],
  'a property that is called like a keyword': [
    { type: 'object', properties: { type: { type: 'string' }, required: {}, $ref: {} } },
    { type: 'object', properties: { type: { type: 'string' }, required: {}, $ref: {} } },
  ],
  'a pattern no engine here compiles': [
    { type: 'object', properties: { a: { pattern: '(?P<x>' } } },
    { type: 'object', properties: { a: { pattern: '(?P<x>' } } },
  ],
}
for (const [what, [given, schema]] of Object.entries(ACCEPTED)) {
  test(`readToolSchema() accepts ${what}`, () => {
    assert.deepEqual(readToolSchema(given), { schema })
  })
}

const REJECTED: Record<string, [unknown, RegExp]> = {
  null: [null, /is not an object/],
  'a text': ['object', /is not an object/],
  'a list': [[{ type: 'object' }], /is not an object/],
  'another type': [{ type: 'array' }, /type "array" instead of object/],
  'an unknown type': [asArgument({ type: 'hologram' }), /has the type "hologram"/],
  'a type that is not a string': [asArgument({ type: 5 }), /has the type number/],
  'invalid properties': [{ type: 'object', properties: 'none' }, /"properties" that is not an object/],
  'a required that is not a list': [{ type: 'object', required: 'a' }, /"required" that is not a list/],
  'alternatives that are not a list': [asArgument({ anyOf: {} }), /"anyOf" that is not a list/],
  'a part that is not a schema': [
    { type: 'object', properties: { a: 'string' } },
    /a part that is not a schema/,
  ],
  'a reference elsewhere': [
    asArgument({ $ref: 'https://schemas.invalid/a.json' }),
    /schemas\.invalid.*outside of it/,
  ],
  'a reference to nothing': [asArgument({ $ref: '#/$defs/nowhere' }), /nowhere.*does not exist/],
  'a reference into what objects inherit': [asArgument({ $ref: '#/$defs/constructor' }), /does not exist/],
  'an invalid part inside a list': [asArgument({ items: [{}, { type: 'hologram' }] }), /hologram/],
  'a bad part in definitions': [{ type: 'object', $defs: { a: { allOf: [{ not: 7 }] } } }, /not a schema/],
}
for (const [what, [given, problem]] of Object.entries(REJECTED)) {
  test(`readToolSchema() rejects ${what}`, () => {
    const reading = readToolSchema(given)
    assert.ok('problem' in reading)
    assert.match(reading.problem, problem)
  })
}

test('readToolSchema() rejects a schema nested deeper than recursion allows', () => {
  let schema: object = {}
  for (let depth = 0; depth < 100_000; depth++) schema = { properties: { a: schema } }
  assert.deepEqual(readToolSchema(schema), { problem: 'its schema is nested more than 64 levels deep' })
})

test('readToolSchema() rejects a schema that is too large', () => {
  const properties = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`p${i}`, {}]))
  assert.deepEqual(readToolSchema({ properties }), { problem: 'its schema is too large' })
})

test('listRequired() returns the names of required arguments', () => {
  assert.deepEqual(listRequired({ required: ['a', 'b'] }), ['a', 'b'])
  assert.deepEqual(listRequired({}), [])
})

function asArgument(schema: object): object {
  return { type: 'object', properties: { a: schema } }
}

test('readToolSchema() keeps texts for readers whole while the schema has at most 64 KiB', () => {
  const words = { type: 'object', properties: { a: { description: 'x'.repeat(30_000) } } }
  assert.deepEqual(readToolSchema(words), { schema: words })
})

test('readToolSchema() removes control characters from texts for readers, and cuts those of a large schema', () => {
  const schema = {
    type: 'object',
    title: 'a\u001b[2Jb',
    $comment: 'x'.repeat(40_000),
    properties: { description: { type: 'string', description: 'x'.repeat(8_000_000), default: 'a\u001bb' } },
  }
  const reading = readToolSchema(schema)
  assert.ok('schema' in reading)
  assert.equal(reading.schema['title'], 'ab')
  const { description } = reading.schema['properties'] as Record<string, Record<string, string>>
  assert.equal(description!['description'], `${'x'.repeat(1_023)}…`)
  assert.equal(description!['default'], 'a\u001bb')
})

test('readToolSchema() rejects more than 64 KiB, or nesting deeper than recursion allows', () => {
  const large = { type: 'object', properties: { a: { enum: ['x'.repeat(70_000)] } } }
  assert.deepEqual(readToolSchema(large), { problem: 'its schema has over 64 KiB' })
  let deep: object = {}
  for (let depth = 0; depth < 200_000; depth++) deep = { 0: deep }
  assert.deepEqual(readToolSchema({ default: deep }), { problem: 'its schema is nested too deep' })
})

test('readToolSchema() rejects a value in a schema that is nested too deep for its readers', () => {
  const nested = (depth: number) => {
    let value: unknown = 'x'
    for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
    return { type: 'object', properties: { a: { default: value } } }
  }
  assert.ok('schema' in readToolSchema(nested(150)))
  for (const depth of [250, 5_000, 10_000]) {
    assert.deepEqual(readToolSchema(nested(depth)), { problem: 'its schema is nested too deep' })
  }
})

test('readToolSchema() offers patterns and references as they are, without compiling or following them', () => {
  const schema = {
    type: 'object',
    properties: {
      slow: { type: 'string', pattern: '^(a+)+$' },
      slower: { type: 'string', pattern: '(x+x+)+y' },
      broken: { type: 'string', pattern: '(' },
      circle: { $ref: '#/$defs/one' },
    },
    patternProperties: { '^(([a-z])+.)+[A-Z]([a-z])+$': { type: 'number' } },
    $defs: { one: { $ref: '#/$defs/two' }, two: { anyOf: [{ $ref: '#/$defs/one' }, { $ref: '#' }] } },
  }
  assert.deepEqual(readToolSchema(schema), { schema: schema })
  const remote = { type: 'object', properties: { a: { $ref: 'https://schemas.invalid/thing.json' } } }
  const { problem } = readToolSchema(remote) as { problem: string }
  assert.match(
    problem,
    /^its schema refers to "https:\/\/schemas\.invalid\/thing\.json", which is outside of it$/,
  )
})
