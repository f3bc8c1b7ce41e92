import type { ProviderKind } from '../config/config-schema.ts'

/** A hosted provider with known variables, address and model names. */
export interface Preset {
  name: string
  kind: ProviderKind
  /** Variables that hold its key; the first one set counts. */
  keys: readonly [string, ...string[]]
  /** Variables that hold its address; the first one set counts. Default: `<NAME>_BASE_URL`. */
  addresses?: readonly [string, ...string[]]
  /** Absent when every customer has a different address. */
  baseUrl?: string
  /**
   * The model for users who do not name one: good at tools, not the most expensive. Absent when every
   * customer chooses the names.
   */
  defaultModel?: string
  /** The default of an AWS region that has another one; returns undefined for a region without a default. */
  defaultIn?: (region: string) => string | undefined
  /** Variables that hold the name of the user's own model. */
  modelKeys?: readonly string[]
  /** The pattern of its model names, to find the provider of a name when several are open. */
  owns: RegExp
}

/** An inference profile that all commercial AWS regions share. */
const COMMERCIAL = 'global.anthropic.claude-sonnet-5-5'

/**
 * The known providers, in the order in which their keys are looked for (ADR 0042).
 *
 * Default models as of 2026-11-21.
 */
export const PRESETS: readonly Preset[] = [
  {
    name: 'anthropic',
    kind: 'anthropic',
    keys: ['ANTHROPIC_API_KEY'],
    baseUrl: 'https://api.anthropic.com/v1',
    defaultModel: 'claude-sonnet-5-5',
    owns: /^claude-/,
  },
  {
    name: 'openai',
    kind: 'openai',
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'https://api.openai.com/v1',
    defaultModel: 'gpt-6-sol',
    owns: /^(gpt-(?!oss)|chatgpt-|o\d)/,
  },
  {
    name: 'gemini',
    kind: 'google',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    defaultModel: 'gemini-3.8-flash',
    owns: /^(gemini|gemma)-/,
  },
  {
    name: 'openrouter',
    kind: 'openai-compatible',
    keys: ['OPENROUTER_API_KEY'],
    baseUrl: 'https://openrouter.ai/api/v1',
    defaultModel: 'openrouter/auto',
    owns: /^(?!arn:).*\//,
  },
  {
    name: 'groq',
    kind: 'openai-compatible',
    keys: ['GROQ_API_KEY'],
    baseUrl: 'https://api.groq.com/openai/v1',
    defaultModel: 'openai/gpt-oss-120b',
    owns: /(^|\/)gpt-oss-/,
  },
  {
    name: 'mistral',
    kind: 'openai-compatible',
    keys: ['MISTRAL_API_KEY'],
    baseUrl: 'https://api.mistral.ai/v1',
    defaultModel: 'mistral-medium-latest',
    owns: /^(open-)?(mistral|ministral|magistral|codestral|devstral|pixtral)-/,
  },
  {
    name: 'xai',
    kind: 'openai-compatible',
    keys: ['XAI_API_KEY'],
    baseUrl: 'https://api.x.ai/v1',
    defaultModel: 'grok-4.6',
    owns: /^grok-/,
  },
  {
    name: 'deepseek',
    kind: 'openai-compatible',
    keys: ['DEEPSEEK_API_KEY'],
    baseUrl: 'https://api.deepseek.com/v1',
    defaultModel: 'deepseek-v4-flash',
    owns: /^deepseek-/,
  },
  {
    name: 'bedrock',
    kind: 'bedrock',
    keys: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_ACCESS_KEY_ID'],
    addresses: ['BEDROCK_BASE_URL', 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'AWS_ENDPOINT_URL'],
    defaultModel: COMMERCIAL,
    defaultIn: (region) => {
      if (/^(cn|eusc)-/.test(region)) return undefined // their models differ, and change
      return region.startsWith('us-gov-') ? 'us-gov.anthropic.claude-sonnet-5-5' : COMMERCIAL
    },
    owns: /^arn:aws|^([a-z-]+\.)?(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|nvidia|openai|qwen|writer|zai)\./,
  },
  {
    name: 'azure',
    kind: 'azure',
    keys: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
    addresses: ['AZURE_OPENAI_ENDPOINT', 'AZURE_BASE_URL'],
    modelKeys: ['AZURE_OPENAI_DEPLOYMENT', 'AZURE_OPENAI_DEPLOYMENT_NAME'],
    owns: /(?!)/,
  },
]

/** Model servers that run on the user's machine, with their default ports. */
export const LOCAL_SERVERS: readonly { name: string; port: number }[] = [
  { name: 'ollama', port: 11434 },
  { name: 'lmstudio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
  { name: 'vllm', port: 8000 },
]
