import type { Effort } from '../base/effort.ts'
import type { JsonObject } from '../base/message.ts'
import { type ConfigTable, configTable, type ProviderKind } from './config-schema.ts'
import { HOOKS_HINT, withoutConfigKeys, withoutEmptyTexts } from './legacy.ts'
import type { McpEntry } from './mcp-entry.ts'
import { type PermissionRule, toRules } from './permissions.ts'
import { checkValue, isTable } from './schema.ts'
import { type TomlDocument, toFileIssues } from './toml.ts'
import type { KeyPath, Result, ValidationIssue } from './validation-issue.ts'

/** A model that config.toml names; absent facts are unknown. Prices are in US dollars per million tokens. */
interface ModelConfig {
  name: string
  context?: number
  inputUsd?: number
  outputUsd?: number
}

/** A provider of models. */
export interface ProviderConfig {
  /** The unique name; `llm` for the `[llm]` table. */
  name: string
  kind: ProviderKind
  /** The API key. Undefined: the provider's usual environment variable. */
  apiKey: string | undefined
  /** The program, with its arguments, that prints the API key. */
  keyHelper?: readonly string[]
  /** The URL without a trailing slash or endpoint. Undefined: the provider's usual address. */
  baseUrl: string | undefined
  /**
   * The models of this provider. Undefined: every name that no other provider lists. Among several such
   * providers, the one whose names look like it gets a name, otherwise the first (ADR 0182).
   */
  models: readonly ModelConfig[] | undefined
  /** The context windows of models by name, in tokens, whether or not `models` lists them. */
  contexts?: Readonly<Record<string, number>>
  /** The AWS region, for Bedrock. Absent: the one of the environment or the profile. */
  region?: string
  /** The profile in ~/.aws, for Bedrock, whose keys replace those of the environment. */
  profile?: string
  /** The time limit for the first byte of a response. */
  timeoutMs: number
  /** Undefined: the usual number, which depends on the turn. */
  maxRetries: number | undefined
  /** The location in the file: `config.toml:3`. */
  where: string
}

/** The normalized content of config.toml. */
export interface Config {
  /** The providers in the order of the file, `[llm]` first. */
  providers: readonly ProviderConfig[]
  /** The model of agents that do not name one. */
  defaultModel: string | undefined
  /** The location of `defaultModel` in the file: `config.toml:1`. */
  defaultModelWhere?: string
  /** The reasoning effort of agents that do not name one. */
  effort?: Effort
  /** Additional skill folders, as written. */
  skillDirs: readonly string[]
  /** Default environment variables for every MCP server that is a program. */
  env: Readonly<Record<string, string>>
  /** The defaults of MCP servers, below the keys of their entries. */
  mcp: Pick<McpEntry, 'start' | 'idle_timeout_ms' | 'startup_timeout_ms' | 'timeout_ms'>
  /** Rules for every agent, in addition to its own. */
  permissions: readonly PermissionRule[]
  daemon: {
    /** Whether a command may start the daemon (ADR 0105). */
    onDemand: boolean
    /** The TCP port; 0 picks a free one. Undefined: no TCP. */
    tcpPort: number | undefined
    /** Whether TCP clients must send a token. */
    tcpToken: boolean
  }
}

/** The configuration without a config.toml. */
export const EMPTY_CONFIG: Config = {
  providers: [],
  defaultModel: undefined,
  skillDirs: [],
  env: {},
  mcp: {},
  permissions: [],
  daemon: { onDemand: true, tcpPort: undefined, tcpToken: true },
}

/** Validates and normalizes a parsed config.toml. */
export function toConfig(document: TomlDocument): Result<Config> {
  const table = withoutUnusedKeys(document.table)
  const locate = (path: KeyPath): string => `${document.file}:${document.lineOf(path)}`
  const clashes = findClashes(table, locate)
  const outcome = checkValue(configTable, table)
  const issues = outcome.ok ? clashes : [...outcome.problems.map(explainHooks), ...clashes]
  if (!outcome.ok || issues.length > 0) return { ok: false, problems: toFileIssues(document, issues) }
  return { ok: true, value: normalize(outcome.value, locate) }
}

/** Removes the endpoint or trailing slash that users often paste with a base URL. */
export function normalizeBaseUrl(url: string): string {
  return url
    .replace(/\/+$/, '')
    .replace(/(?<!:\/)\/(chat\/completions|messages)$/, '')
    .replace(/\/+$/, '')
}

function normalize(table: ConfigTable, locate: (path: KeyPath) => string): Config {
  const { llm, daemon } = table
  const providers = table.providers.map(
    (provider, i): ProviderConfig => ({
      name: provider.name,
      kind: provider.kind,
      ...connection(provider),
      ...(provider.key_helper && { keyHelper: provider.key_helper }),
      models: provider.models?.map(toModel),
      ...(provider.context !== undefined && { contexts: provider.context }),
      ...(provider.region !== undefined && { region: provider.region }),
      ...(provider.profile !== undefined && { profile: provider.profile }),
      timeoutMs: provider.timeout_ms,
      maxRetries: provider.max_retries,
      where: locate(['providers', i]),
    }),
  )
  const endpoint: ProviderConfig = {
    name: LLM_PROVIDER,
    kind: 'openai-compatible',
    ...connection(llm ?? {}),
    models: undefined,
    timeoutMs: 30_000,
    maxRetries: undefined,
    where: locate([LLM_PROVIDER]),
  }
  return {
    providers: llm?.base_url === undefined ? providers : [endpoint, ...providers],
    ...toDefaultModel(table, locate),
    ...(table.effort !== undefined && { effort: table.effort }),
    skillDirs: table.skills.dirs,
    env: table.env,
    mcp: table.mcp,
    permissions: toRules(table.permissions, locate),
    daemon: { onDemand: daemon.on_demand, tcpPort: daemon.tcp_port, tcpToken: daemon.tcp_token },
  }
}

function toDefaultModel(
  { model, llm }: ConfigTable,
  locate: (path: KeyPath) => string,
): Pick<Config, 'defaultModel' | 'defaultModelWhere'> {
  if (model !== undefined) return { defaultModel: model, defaultModelWhere: locate(['model']) }
  if (llm?.model === undefined) return { defaultModel: undefined }
  return { defaultModel: llm.model, defaultModelWhere: locate([LLM_PROVIDER, 'model']) }
}

function connection(table: {
  api_key?: string
  base_url?: string
}): Pick<ProviderConfig, 'apiKey' | 'baseUrl'> {
  const url = table.base_url
  return { apiKey: table.api_key, baseUrl: url === undefined ? undefined : normalizeBaseUrl(url) }
}

type ModelEntry = NonNullable<ConfigTable['providers'][number]['models']>[number]

function toModel(entry: ModelEntry): ModelConfig {
  if (typeof entry === 'string') return { name: entry }
  const { name, context, input_usd: inputUsd, output_usd: outputUsd } = entry
  return {
    name,
    ...(context !== undefined && { context }),
    ...(inputUsd !== undefined && { inputUsd }),
    ...(outputUsd !== undefined && { outputUsd }),
  }
}

function explainHooks(issue: ValidationIssue): ValidationIssue {
  return issue.path.length === 1 && issue.path[0] === 'hooks' ? { ...issue, hint: HOOKS_HINT } : issue
}

/** Drops keys that exist in older homes but have no meaning here. */
function withoutUnusedKeys(table: JsonObject): JsonObject {
  const rest = withoutConfigKeys(table)
  return isTable(rest['llm']) ? { ...rest, llm: withoutEmptyTexts(rest['llm']) } : rest
}

/**
 * Reports duplicates of things that must be unique, each with both locations. Accepts tables that are
 * otherwise invalid.
 */
function findClashes(table: JsonObject, locate: (path: KeyPath) => string): ValidationIssue[] {
  const firsts = new Map<string, KeyPath>()
  const issues: ValidationIssue[] = []
  for (const { what, path } of claims(table)) {
    const first = firsts.get(what)
    if (first === undefined) firsts.set(what, path)
    else issues.push({ path, message: `there is a second ${what}; the first is at ${locate(first)}` })
  }
  return issues
}

function* claims(table: JsonObject): Generator<{ what: string; path: KeyPath }> {
  const { llm, providers } = table
  if (Object.hasOwn(table, 'model')) yield { what: 'default model', path: ['model'] }
  if (isTable(llm) && Object.hasOwn(llm, 'model'))
    yield { what: 'default model', path: [LLM_PROVIDER, 'model'] }
  if (isTable(llm) && Object.hasOwn(llm, 'base_url'))
    yield* providerClaims({ name: LLM_PROVIDER }, [LLM_PROVIDER])
  for (const [i, provider] of (Array.isArray(providers) ? providers : []).entries()) {
    if (isTable(provider)) yield* providerClaims(provider, ['providers', i])
  }
}

function* providerClaims(provider: JsonObject, path: KeyPath): Generator<{ what: string; path: KeyPath }> {
  const { name, models } = provider
  if (typeof name === 'string') yield { what: `provider named "${name}"`, path }
  for (const [i, entry] of (Array.isArray(models) ? models : []).entries()) {
    const model = isTable(entry) ? entry['name'] : entry
    if (typeof model === 'string')
      yield { what: `provider of the model "${model}"`, path: [...path, 'models', i] }
  }
}

/** The key of the `[llm]` table, and the name of its provider. */
export const LLM_PROVIDER = 'llm'
