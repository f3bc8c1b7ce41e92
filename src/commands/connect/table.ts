import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

const PIPE_IT =
  'a key on a command line would be visible to others; pipe it: … | crabtalk connect anthropic --key-stdin'

/** The row of the command table for connecting a model provider. */
export const CONNECT_COMMANDS: readonly Command[] = [
  {
    path: ['connect'],
    args: '[provider]',
    summary: 'Connect a model provider: its key, its address, and the default model',
    details: `PROVIDER is anthropic, openai, google, openrouter, groq, mistral, xai, deepseek, bedrock, azure, or a server on this
machine: ollama, lmstudio, llama.cpp, vllm; or the name of a provider in config.toml, whose key is replaced. --base-url
connects any OpenAI-compatible server. Asks for what is missing when it runs
on a terminal. The key is tried with one request before anything is written; it is stored in the vault, or in config.toml, which
only you can read, where there can be no vault. Without a new key, a key that is in config.toml moves into the vault.`,
    options: [
      { name: 'key-stdin', summary: 'Read the key from standard input' },
      {
        name: 'model',
        short: 'm',
        value: 'NAME',
        summary: 'The default model; otherwise chosen from the list of the provider',
      },
      { name: 'base-url', value: 'URL', summary: 'The address of the server, if it is not the usual one' },
      { name: 'region', value: 'NAME', summary: 'The AWS region, for bedrock' },
      {
        name: 'store',
        value: 'PLACE',
        choices: ['vault', 'config'],
        summary: 'Where the key is stored',
        fallback: 'vault',
      },
      { name: 'no-check', summary: 'Write it without trying it' },
      JSON_OPTION,
    ],
    instead: { '--key': PIPE_IT, '--api-key': PIPE_IT, '--token': PIPE_IT },
    examples: [
      'crabtalk connect',
      'pass anthropic | crabtalk connect anthropic --key-stdin',
      'crabtalk connect --base-url http://localhost:4000/v1 --model qwen3',
    ],
    load: async () => (await import('./connect.ts')).connectCommand,
  },
]
