import * as z from 'zod/mini'
import { EFFORTS } from '../base/effort.ts'
import { permissionsTable } from './permissions.ts'
import {
  filledString,
  headerKey,
  httpAddress,
  milliseconds,
  strictTable,
  type TableIssue,
  tableCheck,
  variableName,
  wholeNumber,
} from './schema.ts'
import { tuiTable } from './tui-schema.ts'

/** The kinds of provider that config.toml may name. The registry decides which of them this build can call. */
export const PROVIDER_KINDS = [
  'openai',
  'anthropic',
  'google',
  'bedrock',
  'azure',
  'openai-compatible',
] as const

/** The kind of a provider. */
export type ProviderKind = (typeof PROVIDER_KINDS)[number]

/** The schema of config.toml, built on first use. */
export const configTable = z.lazy(() =>
  strictTable({
    model: z.exactOptional(filledString()),
    effort: z.exactOptional(z.enum(EFFORTS)),
    llm: z.exactOptional(z.lazy(llm)),
    providers: z._default(z.array(z.lazy(provider)), []),
    skills: z.prefault(strictTable({ dirs: z._default(z.array(filledString()), []) }), {}),
    env: z._default(z.record(variableName(), z.string()), {}),
    permissions: z.exactOptional(permissionsTable),
    daemon: z.prefault(daemon(), {}),
    mcp: z.prefault(z.lazy(mcp), {}),
    tui: z.prefault(z.lazy(tuiTable), {}),
  }),
)

/** The content of config.toml, with defaults. */
export type ConfigTable = z.infer<typeof configTable>

function provider() {
  return strictTable({
    name: filledString(),
    kind: z.enum(PROVIDER_KINDS),
    api_key: z.exactOptional(headerKey()),
    key_helper: z.exactOptional(z.array(filledString()).check(z.minLength(1))),
    base_url: z.exactOptional(httpAddress()),
    models: z.exactOptional(z.array(z.union([filledString(), z.lazy(model)])).check(z.minLength(1))),
    context: z.exactOptional(z.record(filledString(), wholeNumber(1))),
    region: z.exactOptional(filledString()),
    profile: z.exactOptional(filledString()),
    timeout_ms: z._default(milliseconds(), 30_000),
    max_retries: z.exactOptional(wholeNumber(0, 100)),
  }).check(tableCheck(findMissingAddress), tableCheck(findForeignKeys), tableCheck(findSecondKey))
}

/**
 * A model with facts from the user: the context limit in tokens, and prices in US dollars per million tokens
 * (ADR 0044).
 */
function model() {
  return strictTable({
    name: filledString(),
    context: z.exactOptional(wholeNumber(1)),
    input_usd: z.exactOptional(z.number().check(z.minimum(0))),
    output_usd: z.exactOptional(z.number().check(z.minimum(0))),
  })
}

function llm() {
  return strictTable({
    base_url: z.exactOptional(httpAddress()),
    api_key: z.exactOptional(headerKey()),
    model: z.exactOptional(filledString()),
  }).check(tableCheck(findKeyWithoutAddress))
}

/** The defaults of all servers; the keys of an entry take precedence. */
function mcp() {
  return strictTable({
    start: z.exactOptional(z.enum(['eager', 'lazy'])),
    idle_timeout_ms: z.exactOptional(milliseconds()),
    startup_timeout_ms: z.exactOptional(milliseconds()),
    timeout_ms: z.exactOptional(milliseconds()),
  })
}

function daemon() {
  return strictTable({
    on_demand: z._default(z.boolean(), true),
    tcp_port: z.exactOptional(wholeNumber(0, 65_535)),
    tcp_token: z._default(z.boolean(), true),
  })
}

function* findMissingAddress(table: Record<string, unknown>, isMisspelt: boolean): Generator<TableIssue> {
  if (table['kind'] !== 'openai-compatible' || Object.hasOwn(table, 'base_url') || isMisspelt) return
  yield { path: ['base_url'], predicate: 'is missing: an openai-compatible provider has no default address' }
}

/** Reports AWS regions and profiles on other kinds of provider. */
function* findForeignKeys(table: Record<string, unknown>, isMisspelt: boolean): Generator<TableIssue> {
  if (table['kind'] === 'bedrock' || isMisspelt) return
  for (const key of ['region', 'profile']) {
    if (Object.hasOwn(table, key)) yield { path: [key], predicate: 'is for kind = "bedrock" only' }
  }
}

function* findSecondKey(table: Record<string, unknown>): Generator<TableIssue> {
  if (!Object.hasOwn(table, 'api_key') || !Object.hasOwn(table, 'key_helper')) return
  yield { path: ['key_helper'], predicate: 'cannot be combined with api_key', hint: 'remove one of them' }
}

function* findKeyWithoutAddress(table: Record<string, unknown>, isMisspelt: boolean): Generator<TableIssue> {
  if (!Object.hasOwn(table, 'api_key') || Object.hasOwn(table, 'base_url') || isMisspelt) return
  const hint = 'for a provider with a default address, write a [[providers]] table with its kind'
  yield { path: ['base_url'], predicate: 'is missing: [llm] has a key but no address', hint }
}
