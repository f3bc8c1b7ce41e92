import type { JsonObject } from '../../../src/core/base/message.ts'
import { type Tool, textResult, tool } from './tool.ts'

/** Names that a client must adapt for its model, and map back to the tool. */
export const ODD_NAMES = [
  'read/file',
  'read.file',
  'read file',
  'READ_FILE',
  'déjà-vu 🦀',
  '',
  'x'.repeat(120),
  '__proto__',
  'constructor',
  'mcp__other__echo',
  'bash',
]

/** Creates a tool for each odd name, which returns that name as JSON. */
export function oddTools(): Tool[] {
  return ODD_NAMES.map((name) => tool(name, 'Says its name', {}, () => textResult(JSON.stringify(name))))
}

/** Creates two tools of one name, and a third between them. */
export function twinTools(): Tool[] {
  return ['first', 'between', 'second'].map((who) =>
    tool(who === 'between' ? who : 'twin', `The ${who}`, {}, () => textResult(who)),
  )
}

/** Creates tools with a wrong or dangerous definition, by name; one without a name comes last. */
export function badSchemaTools(): Tool[] {
  const inputs = Object.entries(INPUT_SCHEMAS).map(([name, inputSchema]) => ({
    ...tool(name, 'Its arguments are described wrongly', {}, () => textResult(name)),
    definition: { name, description: 'Its arguments are described wrongly', inputSchema },
  }))
  const outputs = Object.entries(OUTPUT_SCHEMAS).map(([name, outputSchema]) =>
    tool(
      name,
      'Its result is described wrongly',
      {},
      () => ({ ...textResult(name), structuredContent: HARD }),
      {
        outputSchema,
      },
    ),
  )
  const nameless = [{ inputSchema: { type: 'object' } }, { name: 42, inputSchema: { type: 'object' } }, null]
  return [
    ...inputs,
    ...outputs,
    ...nameless.map((definition) => ({ name: '', definition, run: () => textResult('nameless') })),
  ]
}

/** An input on which the regular expression below never finishes. */
const HARD = { a: `${'a'.repeat(40)}!` }

const DEPTH = 2_000

const REMOTE = { $ref: 'https://schemas.invalid/thing.json' }
const CIRCLE = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }

/** The input schemas; undefined leaves the schema out of the definition. */
const INPUT_SCHEMAS: Readonly<Record<string, unknown>> = {
  no_schema: undefined,
  null_schema: null,
  text_schema: 'object',
  list_schema: [{ type: 'object' }],
  array_type: { type: 'array', items: { type: 'string' } },
  untyped: {},
  remote_ref: withA(REMOTE),
  circular_ref: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: CIRCLE },
  missing_ref: withA({ $ref: '#/$defs/nowhere' }),
  broken_pattern: withA({ type: 'string', pattern: '(' }),
  unknown_type: withA({ type: 'hologram' }),
  wrong_keywords: { type: 'object', properties: 'none', required: 'a' },
  deep: deepSchema(DEPTH),
  huge: { type: 'object', properties: Object.fromEntries(numbered(30_000)) },
}

const OUTPUT_SCHEMAS: Readonly<Record<string, unknown>> = {
  output_not_object: { type: 'string' },
  output_remote_ref: withA(REMOTE),
  output_unknown_type: withA({ type: 'hologram' }),
  output_broken_pattern: withA({ type: 'string', pattern: '(' }),
  output_slow_pattern: withA({ type: 'string', pattern: '^(a+)+$' }),
  output_deep: deepSchema(DEPTH),
}

function numbered(count: number): [string, JsonObject][] {
  return Array.from({ length: count }, (_, index) => [`a${index}`, { type: 'string' }])
}

function withA(schema: JsonObject): JsonObject {
  return { type: 'object', properties: { a: schema } }
}

function deepSchema(depth: number): JsonObject {
  let schema: JsonObject = { type: 'string' }
  for (let level = 0; level < depth; level++) schema = withA(schema)
  return schema
}
