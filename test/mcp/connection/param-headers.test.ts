import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dropUnsendable } from '../../../src/mcp/connection/param-headers.ts'

const TEXT = { type: 'string' }
const REGION = { type: 'string', 'x-mcp-header': 'Region' }

const SENDABLE: Record<string, object> = {
  'a tool without headers': { a: TEXT },
  'texts, whole numbers and booleans': {
    a: REGION,
    b: { type: 'integer', 'x-mcp-header': 'B' },
    c: { type: 'boolean', 'x-mcp-header': 'c-!' },
  },
  'an argument inside another': { a: { type: 'object', properties: { b: REGION } } },
  'an argument that is called like the keyword': { 'x-mcp-header': TEXT },
  'a default that looks like a schema': { a: { type: 'object', default: { 'x-mcp-header': '' } } },
}
for (const [what, properties] of Object.entries(SENDABLE)) {
  test(`dropUnsendable() keeps ${what}`, () => {
    const list = { tools: [toolWith(properties)], dropped: [] }
    assert.deepEqual(dropUnsendable(list), list)
  })
}

const UNSENDABLE: Record<string, [object, RegExp]> = {
  'an empty name': [{ a: { ...TEXT, 'x-mcp-header': '' } }, /without a valid name/],
  'a name that is not a string': [{ a: { ...TEXT, 'x-mcp-header': 1 } }, /without a valid name/],
  'a name with a space': [{ a: { ...TEXT, 'x-mcp-header': 'My Region' } }, /without a valid name/],
  'a name with a line break': [{ a: { ...TEXT, 'x-mcp-header': 'A\r\nB' } }, /without a valid name/],
  'a name beyond ASCII': [{ a: { ...TEXT, 'x-mcp-header': 'Région' } }, /without a valid name/],
  'a list as value': [{ a: { type: 'array', 'x-mcp-header': 'A' } }, /whose type is not one of/],
  'a number as value': [{ a: { type: 'number', 'x-mcp-header': 'A' } }, /whose type is not one of/],
  'a value of two types': [
    { a: { type: ['string', 'null'], 'x-mcp-header': 'A' } },
    /whose type is not one of/,
  ],
  'no type': [{ a: { 'x-mcp-header': 'A' } }, /whose type is not one of/],
  'the same name twice': [{ a: REGION, b: { ...TEXT, 'x-mcp-header': 'rEGION' } }, /for two arguments/],
  'an item of a list': [{ a: { type: 'array', items: REGION } }, /not a plain argument/],
  'one of several forms': [{ a: { anyOf: [REGION] } }, /not a plain argument/],
  'a property of an item': [
    { a: { type: 'array', items: { type: 'object', properties: { b: REGION } } } },
    /not a plain argument/,
  ],
}
for (const [what, [properties, why]] of Object.entries(UNSENDABLE)) {
  test(`dropUnsendable() drops a tool that wants a header with ${what}`, () => {
    const other = { name: 'other', description: '', inputSchema: { type: 'object' } }
    const { tools, dropped } = dropUnsendable({ tools: [toolWith(properties), other], dropped: [] })
    assert.deepEqual(tools, [other])
    assert.equal(dropped[0]?.name, 'tool')
    assert.match(dropped[0].why, why)
  })
}

test('dropUnsendable() drops a tool that wants all its arguments in a header', () => {
  const tool = { name: 'tool', description: '', inputSchema: { type: 'object', 'x-mcp-header': 'All' } }
  assert.match(dropUnsendable({ tools: [tool], dropped: [] }).dropped[0]!.why, /not a plain argument/)
})

function toolWith(properties: object) {
  return { name: 'tool', description: '', inputSchema: { type: 'object', properties } }
}
