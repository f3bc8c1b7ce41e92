import { fileSchemas } from '../../src/core/config/find-problems.ts'
import { AGENT_TEXTS, CONFIG_TEXTS } from './key-texts.ts'
import { code, table } from './sections.ts'

/** The subset of JSON Schema that our schemas use. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  default?: unknown
  additionalProperties?: Schema | boolean
  required?: string[]
  minimum?: number
  maximum?: number
}

/** Renders every key of config.toml. */
export function configSection(): string {
  return toSection(fileSchemas().config as Schema, CONFIG_TEXTS, 'config.toml')
}

/** Renders every key of an agent file. */
export function agentSection(): string {
  return toSection(fileSchemas().agent as Schema, AGENT_TEXTS, 'an agent file')
}

/** Renders the table of a schema's keys. Throws when a key has no text, or a text has no key. */
function toSection(schema: Schema, texts: Readonly<Record<string, string>>, what: string): string {
  const keys = [...iterateKeys(schema, '')]
  const unexplained = keys.filter(({ path }) => texts[path] === undefined).map(({ path }) => path)
  const unknown = Object.keys(texts).filter((path) => !keys.some((key) => key.path === path))
  if (unexplained.length > 0 || unknown.length > 0) {
    throw new Error(
      `Cannot describe ${what}: scripts/docs/key-texts.ts lacks ${unexplained.join(', ') || 'nothing'} and says too much of ${unknown.join(', ') || 'nothing'}`,
    )
  }
  const rows = keys.map(({ path, schema: one, isRequired }) => [
    code(path),
    describeType(one),
    isRequired ? 'required' : describeDefault(one),
    texts[path]!,
  ])
  return table(['key', 'type', 'default', 'meaning'], rows)
}

function* iterateKeys(
  schema: Schema,
  prefix: string,
): Generator<{ path: string; schema: Schema; isRequired: boolean }> {
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    const path = prefix + name
    yield { path, schema: one, isRequired: schema.required?.includes(name) ?? false }
    const inner = one.items?.anyOf?.find(({ properties }) => properties) ?? one.items ?? one
    yield* iterateKeys(inner, `${path}${one.items ? '[]' : ''}.`)
  }
}

function describeType(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(' or ')
  if (schema.anyOf) return schema.anyOf.map(describeType).join(' or ')
  switch (schema.type) {
    case 'array':
      return `list of ${plural(describeType(schema.items ?? {}))}`
    case 'object':
      return typeof schema.additionalProperties === 'object' ? 'table of texts' : 'table'
    case 'integer':
      return `whole number${bounds(schema)}`
    case 'number':
      return `number${bounds(schema)}`
    case 'boolean':
      return 'true or false'
    default:
      return 'text'
  }
}

function plural(type: string): string {
  return type === 'text or table' ? 'texts or tables' : `${type}s`
}

function bounds({ minimum, maximum = Number.POSITIVE_INFINITY }: Schema): string {
  if (minimum === undefined) return ''
  return maximum >= 2 ** 31 - 1 ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`
}

function describeDefault({ default: value, type }: Schema): string {
  if (value === undefined || type === 'object' || type === 'array' || value === '') return ''
  return code(String(value))
}
