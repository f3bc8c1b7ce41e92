import type { JsonObject } from '../base/message.ts'
import { type ConfigTable, configTable, type ProviderKind } from './config-schema.ts'
import { HOOKS_HINT, withoutConfigKeys, withoutEmptyTexts } from './legacy.ts'
import { type PermissionRule, toRules } from './permissions.ts'
import { checkValue, isTable } from './schema.ts'
import { type TomlDocument, toFileIssues } from './toml.ts'
import type { KeyPath, Result, ValidationIssue } from './validation-issue.ts'

/** A model that config.toml names; absent facts are unknown. Prices are US dollars per million tokens. */
interface ModelConfig {
  name: string
  context?: number
  inputUsd?: number
  outputUsd?: number
}

/** One place that serves models. */
export interface ProviderConfig {
  /** Unique; `llm` for the short form. */
  name: string
  kind: ProviderKind
  /** Absent: the provider's usual environment variable. */
  apiKey: string | undefined
  /** Without a trailing slash or endpoint. Absent: the provider's usual address. */
  baseUrl: string | undefined
  /** Absent: every model name that no other provider has; at most one provider is like that. */
  models: readonly ModelConfig[] | undefined
  /** Of Bedrock. Absent: what the environment or the profile says. */
  region?: string
  /** Of Bedrock, in ~/.aws: whose keys to use instead of the environment's. */
  profile?: string
  /** To the first byte. */
  timeoutMs: number
  maxRetries: number
  /** Where it is written: `config.toml:3`. */
  where: string
}

/** config.toml, normalised. */
export interface Config {
  /** In the order of the file, `[llm]` first. */
  providers: readonly ProviderConfig[]
  /** The model of agents that name none. */
  defaultModel: string | undefined
  /** Further skill roots, as written. */
  skillDirs: readonly string[]
  /** Laid under the environment of every MCP server that is a program. */
  env: Readonly<Record<string, string>>
  /** Of every agent, beside its own. */
  permissions: readonly PermissionRule[]
  daemon: {
    /** Whether a command may start the daemon (decision 31). */
    onDemand: boolean
    /** 0 picks a free one. Absent: no TCP. */
    tcpPort: number | undefined
    /** Whether TCP clients must show a token. */
    tcpToken: boolean
  }
}

/** What holds without a config.toml. */
export const EMPTY_CONFIG: Config = {
  providers: [],
  defaultModel: undefined,
  skillDirs: [],
  env: {},
  permissions: [],
  daemon: { onDemand: true, tcpPort: undefined, tcpToken: true },
}

/** Checks and normalises a parsed config.toml. */
export function toConfig(document: TomlDocument): Result<Config> {
  const table = tolerated(document.table)
  const place = (path: KeyPath): string => `${document.file}:${document.lineOf(path)}`
  const clashes = findClashes(table, place)
  const outcome = checkValue(configTable, table)
  const findings = outcome.ok ? clashes : [...outcome.problems.map(explainHooks), ...clashes]
  if (!outcome.ok || findings.length > 0) return { ok: false, problems: toFileIssues(document, findings) }
  return { ok: true, value: normalise(outcome.value, place) }
}

/** An address without the endpoint or slash that people paste with it (RFC 0027). Adds nothing. */
export function normaliseBaseUrl(url: string): string {
  return url
    .replace(/\/+$/, '')
    .replace(/(?<!:\/)\/(chat\/completions|messages)$/, '')
    .replace(/\/+$/, '')
}

function normalise(table: ConfigTable, place: (path: KeyPath) => string): Config {
  const { llm, daemon } = table
  const providers = table.providers.map(
    (provider, i): ProviderConfig => ({
      name: provider.name,
      kind: provider.kind,
      ...connection(provider),
      models: provider.models?.map(toModel),
      ...(provider.region !== undefined && { region: provider.region }),
      ...(provider.profile !== undefined && { profile: provider.profile }),
      timeoutMs: provider.timeout_ms,
      maxRetries: provider.max_retries,
      where: place(['providers', i]),
    }),
  )
  const endpoint: ProviderConfig = {
    name: LLM,
    kind: 'openai-compatible',
    ...connection(llm ?? {}),
    models: undefined,
    timeoutMs: 30_000,
    maxRetries: 2,
    where: place([LLM]),
  }
  return {
    providers: llm?.base_url === undefined ? providers : [endpoint, ...providers],
    defaultModel: table.model ?? llm?.model,
    skillDirs: table.skills.dirs,
    env: table.env,
    permissions: toRules(table.permissions, place),
    daemon: { onDemand: daemon.on_demand, tcpPort: daemon.tcp_port, tcpToken: daemon.tcp_token },
  }
}

function connection(table: {
  api_key?: string
  base_url?: string
}): Pick<ProviderConfig, 'apiKey' | 'baseUrl'> {
  const url = table.base_url
  return { apiKey: table.api_key, baseUrl: url === undefined ? undefined : normaliseBaseUrl(url) }
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

function explainHooks(finding: ValidationIssue): ValidationIssue {
  return finding.path.length === 1 && finding.path[0] === 'hooks' ? { ...finding, hint: HOOKS_HINT } : finding
}

/** What existing homes have and that means nothing here. */
function tolerated(table: JsonObject): JsonObject {
  const known = withoutConfigKeys(table)
  return isTable(known['llm']) ? { ...known, llm: withoutEmptyTexts(known['llm']) } : known
}

/** Things there may be only one of, said twice; each names both places. Sees tables that may be wrong otherwise. */
function findClashes(table: JsonObject, place: (path: KeyPath) => string): ValidationIssue[] {
  const firsts = new Map<string, KeyPath>()
  const findings: ValidationIssue[] = []
  for (const { what, path } of claims(table)) {
    const first = firsts.get(what)
    if (first === undefined) firsts.set(what, path)
    else findings.push({ path, message: `there is a second ${what}; the first is at ${place(first)}` })
  }
  return findings
}

function* claims(table: JsonObject): Generator<{ what: string; path: KeyPath }> {
  const { llm, providers } = table
  if (Object.hasOwn(table, 'model')) yield { what: 'default model', path: ['model'] }
  if (isTable(llm) && Object.hasOwn(llm, 'model')) yield { what: 'default model', path: [LLM, 'model'] }
  if (isTable(llm) && Object.hasOwn(llm, 'base_url')) yield* providerClaims({ name: LLM }, [LLM])
  for (const [i, provider] of (Array.isArray(providers) ? providers : []).entries()) {
    if (isTable(provider)) yield* providerClaims(provider, ['providers', i])
  }
}

function* providerClaims(provider: JsonObject, path: KeyPath): Generator<{ what: string; path: KeyPath }> {
  const { name, models } = provider
  if (typeof name === 'string') yield { what: `provider named "${name}"`, path }
  if (!Object.hasOwn(provider, 'models'))
    yield { what: 'provider without "models", which takes any name', path }
  for (const [i, entry] of (Array.isArray(models) ? models : []).entries()) {
    const model = isTable(entry) ? entry['name'] : entry
    if (typeof model === 'string')
      yield { what: `provider of the model "${model}"`, path: [...path, 'models', i] }
  }
}

/** The table of the short form, and the name of its provider. */
const LLM = 'llm'
