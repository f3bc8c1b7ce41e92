import type { ProviderKind } from '../config/config-schema.ts'

/** A hosted provider with known variables, address and model names. */
export interface Preset {
  name: string
  /** Its name for people. */
  title: string
  kind: ProviderKind
  /** The page on which a user creates a key. */
  keyPage?: string
  /**
   * The path of a request that checks a key, below the address; absent when listing the models already needs
   * a valid key.
   */
  keyCheckPath?: string
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
    title: 'Anthropic',
    kind: 'anthropic',
    keyPage: 'https://console.anthropic.com/settings/keys',
    keys: ['ANTHROPIC_API_KEY'],
    baseUrl: 'https://api.anthropic.com/v1',
    defaultModel: 'claude-sonnet-5-5',
    owns: /^claude-/,
  },
  {
    name: 'openai',
    title: 'OpenAI',
    kind: 'openai',
    keyPage: 'https://platform.openai.com/api-keys',
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'https://api.openai.com/v1',
    defaultModel: 'gpt-6-sol',
    owns: /^(gpt-(?!oss)|chatgpt-|o\d)/,
  },
  {
    name: 'gemini',
    title: 'Google',
    kind: 'google',
    keyPage: 'https://aistudio.google.com/apikey',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    defaultModel: 'gemini-3.8-flash',
    owns: /^(gemini|gemma)-/,
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    kind: 'openai-compatible',
    keyPage: 'https://openrouter.ai/settings/keys',
    keyCheckPath: '/key', // its list of models is public
    keys: ['OPENROUTER_API_KEY'],
    baseUrl: 'https://openrouter.ai/api/v1',
    defaultModel: 'openrouter/auto',
    owns: /^(?!arn:).*\//,
  },
  {
    name: 'groq',
    title: 'Groq',
    kind: 'openai-compatible',
    keyPage: 'https://console.groq.com/keys',
    keys: ['GROQ_API_KEY'],
    baseUrl: 'https://api.groq.com/openai/v1',
    defaultModel: 'openai/gpt-oss-120b',
    owns: /(^|\/)gpt-oss-/,
  },
  {
    name: 'mistral',
    title: 'Mistral',
    kind: 'openai-compatible',
    keyPage: 'https://console.mistral.ai/api-keys',
    keys: ['MISTRAL_API_KEY'],
    baseUrl: 'https://api.mistral.ai/v1',
    defaultModel: 'mistral-medium-latest',
    owns: /^(open-)?(mistral|ministral|magistral|codestral|devstral|pixtral)-/,
  },
  {
    name: 'xai',
    title: 'xAI',
    kind: 'openai-compatible',
    keyPage: 'https://console.x.ai',
    keys: ['XAI_API_KEY'],
    baseUrl: 'https://api.x.ai/v1',
    defaultModel: 'grok-4.6',
    owns: /^grok-/,
  },
  {
    name: 'deepseek',
    title: 'DeepSeek',
    kind: 'openai-compatible',
    keyPage: 'https://platform.deepseek.com/api_keys',
    keys: ['DEEPSEEK_API_KEY'],
    baseUrl: 'https://api.deepseek.com/v1',
    defaultModel: 'deepseek-v4-flash',
    owns: /^deepseek-/,
  },
  {
    name: 'bedrock',
    title: 'Amazon Bedrock',
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
    title: 'Azure OpenAI',
    kind: 'azure',
    keys: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
    addresses: ['AZURE_OPENAI_ENDPOINT', 'AZURE_BASE_URL'],
    modelKeys: ['AZURE_OPENAI_DEPLOYMENT', 'AZURE_OPENAI_DEPLOYMENT_NAME'],
    owns: /(?!)/,
  },
]

/** Model servers that run on the user's machine, with their default ports. */
export const LOCAL_SERVERS: readonly { name: string; title: string; port: number }[] = [
  { name: 'ollama', title: 'Ollama', port: 11434 },
  { name: 'lmstudio', title: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', title: 'llama.cpp', port: 8080 },
  { name: 'vllm', title: 'vLLM', port: 8000 },
]
