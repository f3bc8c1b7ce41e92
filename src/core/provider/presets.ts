/** A hosted provider whose variables, address and names are known. */
export interface Preset {
  name: string
  kind: 'openai' | 'anthropic' | 'openai-compatible'
  /** Variables that hold its key; the first one set counts. */
  keys: readonly [string, ...string[]]
  baseUrl: string
  /** What a person gets who names no model; good at tools, not the dearest. */
  defaultModel: string
  /** What its models' names look like, to find the provider of a name when several are open. */
  owns: RegExp
}

/**
 * Known providers, in the order in which their keys are looked for (cli.md, "First run").
 *
 * Default models as of 2026-11-21. Each one's address can be changed with `<NAME>_BASE_URL`.
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
    owns: /^(gpt-|chatgpt-|o\d)/,
  },
  {
    name: 'gemini',
    kind: 'openai-compatible',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    defaultModel: 'gemini-3.8-flash',
    owns: /^(gemini|gemma)-/,
  },
  {
    name: 'openrouter',
    kind: 'openai-compatible',
    keys: ['OPENROUTER_API_KEY'],
    baseUrl: 'https://openrouter.ai/api/v1',
    defaultModel: 'openrouter/auto',
    owns: /\//,
  },
  {
    name: 'groq',
    kind: 'openai-compatible',
    keys: ['GROQ_API_KEY'],
    baseUrl: 'https://api.groq.com/openai/v1',
    defaultModel: 'openai/gpt-oss-120b',
    owns: /gpt-oss-/,
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
]

/** Model servers people run on their own machine, on the port each listens on unless told otherwise. */
export const LOCAL_SERVERS: readonly { name: string; port: number }[] = [
  { name: 'ollama', port: 11434 },
  { name: 'lmstudio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
  { name: 'vllm', port: 8000 },
]

/** Variables of providers whose wire this build does not speak yet: found, they are named, not used. */
export const UNSUPPORTED_KEYS: readonly string[] = [
  'AWS_BEARER_TOKEN_BEDROCK',
  'AZURE_OPENAI_API_KEY',
  'AZURE_API_KEY',
]
