import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { cleanServerText, limitServerText } from './server-text.ts'

/** A tool's input schema as model APIs accept it, or why none would. */
export type SchemaReading = { schema: JsonObject } | { problem: string }

/**
 * Reads the input schema of a tool. It stays as the server wrote it, except that a missing top-level type is
 * added and control characters are removed from descriptions. Those of a schema over 64 KiB are truncated to
 * 1,024 characters; one that is still larger is rejected.
 *
 * Model APIs refuse a whole request for one invalid schema, so this checks its structure. No pattern is
 * compiled and no URL is fetched.
 */
export function readToolSchema(value: unknown): SchemaReading {
  if (value === undefined) return { schema: { type: 'object', properties: {} } }
  if (!isObject(value)) return { problem: 'its schema is not an object' }
  const { type = 'object' } = value
  if (type !== 'object')
    return { problem: `its arguments are of type ${quoteBriefly(type)} instead of object` }
  const schema = value['type'] === undefined ? { type, ...value } : value
  const problem = findProblem(schema)
  return problem === undefined ? toReading(schema) : { problem }
}

/** Returns the names of the required arguments. */
export function listRequired({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

/** Yields the immediate subschemas of a schema, including those of its properties. */
export function* iterateSubschemas(schema: JsonObject): Generator<unknown> {
  for (const key of SCHEMAS) {
    const child = schema[key]
    if (Array.isArray(child)) yield* child
    else if (child !== undefined) yield child
  }
  for (const key of LISTS) yield* (schema[key] ?? []) as unknown[]
  for (const key of TABLES) yield* Object.values((schema[key] ?? {}) as JsonObject)
}

/** A deeper schema does not describe anything useful, and recursion over it could overflow the stack. */
const MAX_DEPTH = 64
/** The limit for JSON nesting: a subschema takes two levels, and some model APIs recurse over their input. */
const MAX_NESTING = 200
const MAX_NODES = 20_000
const MAX_BYTES = 64 * 1024
/** The keywords with text for readers. */
const WORDS = ['$comment', 'description', 'title']
const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

/** The keywords whose value is a schema, a list of schemas (LISTS), or schemas by name (TABLES). */
const SCHEMAS = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const TABLES = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']

function toReading(schema: JsonObject): SchemaReading {
  const copy = cloneSchema(schema)
  if (!copy) return { problem: 'its schema is nested too deep' }
  changeWords(copy, (words) => cleanServerText(words))
  if (isTooLarge(copy)) changeWords(copy, limitServerText)
  if (isTooLarge(copy)) return { problem: `its schema has over ${MAX_BYTES / 1024} KiB` }
  return isNestedDeeper(copy, MAX_NESTING) ? { problem: 'its schema is nested too deep' } : { schema: copy }
}

/** Changes the texts for readers in a schema and its subschemas, in place. */
function changeWords(schema: JsonObject, change: (words: string) => string): void {
  const open: unknown[] = [schema]
  while (open.length > 0) {
    const part = open.pop()
    if (!isObject(part)) continue
    for (const key of WORDS) if (typeof part[key] === 'string') part[key] = change(part[key])
    open.push(...iterateSubschemas(part))
  }
}

function isTooLarge(schema: JsonObject): boolean {
  return Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES
}

/**
 * Whether arrays and objects are nested deeper than `levels`, also outside of schemas, in a default for
 * example.
 */
function isNestedDeeper(value: JsonObject, levels: number): boolean {
  let open: unknown[] = [value]
  for (let level = 0; level <= levels && open.length > 0; level++) {
    open = open.flatMap((part) => (typeof part === 'object' && part !== null ? Object.values(part) : []))
  }
  return open.length > 0
}

/** Clones a schema; undefined when it is nested deeper than the stack allows. */
function cloneSchema(schema: JsonObject): JsonObject | undefined {
  try {
    return JSON.parse(JSON.stringify(schema)) as JsonObject
  } catch {
    return undefined
  }
}

/** Walks all subschemas without recursion and returns the first problem. */
function findProblem(root: JsonObject): string | undefined {
  const open: { schema: unknown; depth: number }[] = [{ schema: root, depth: 0 }]
  for (let visited = 1; open.length > 0; visited++) {
    const { schema, depth } = open.pop()!
    if (depth > MAX_DEPTH) return `its schema is nested more than ${MAX_DEPTH} levels deep`
    if (visited > MAX_NODES) return 'its schema is too large'
    if (typeof schema === 'boolean') continue
    if (!isObject(schema)) return 'its schema has a part that is not a schema'
    const problem = findOwnProblem(schema, root)
    if (problem !== undefined) return problem
    for (const child of iterateSubschemas(schema)) open.push({ schema: child, depth: depth + 1 })
  }
  return undefined
}

function findOwnProblem(schema: JsonObject, root: JsonObject): string | undefined {
  const { type, required, $ref: ref } = schema
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const unknown = types.find((one) => typeof one !== 'string' || !TYPES.has(one))
  if (unknown !== undefined) return `its schema has the type ${quoteBriefly(unknown)}`
  if (required !== undefined && !isListOfTexts(required))
    return 'its schema has a "required" that is not a list'
  for (const key of TABLES) {
    if (schema[key] !== undefined && !isObject(schema[key]))
      return `its schema has a "${key}" that is not an object`
  }
  for (const key of LISTS) {
    if (schema[key] !== undefined && !Array.isArray(schema[key]))
      return `its schema has a "${key}" that is not a list`
  }
  return ref === undefined ? undefined : findRefProblem(ref, root)
}

function findRefProblem(ref: unknown, root: JsonObject): string | undefined {
  if (typeof ref !== 'string') return 'its schema has a "$ref" that is not a string'
  if (!ref.startsWith('#')) return `its schema refers to ${quoteBriefly(ref)}, which is outside of it`
  if (ref !== '#' && !ref.startsWith('#/')) return undefined // the name of an anchor
  return hasPart(root, ref) ? undefined : `its schema refers to ${quoteBriefly(ref)}, which does not exist`
}

/** Whether a JSON pointer (RFC 6901, as a fragment) leads to something. */
function hasPart(root: JsonObject, pointer: string): boolean {
  let part: unknown = root
  for (const step of pointer.slice(1).split('/').slice(1)) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return false
    part = (part as JsonObject)[key]
  }
  return true
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a stray % is literal
  }
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Quotes a server's value, short enough for a message. */
function quoteBriefly(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : typeof value
}
