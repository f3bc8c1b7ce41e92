import type { ProviderOption, ScheduledEntry, SetupArea } from '../../src/tui/ports.ts'

/** The providers of a machine with a key in its environment and a server of Ollama. */
export const GOLDEN_PROVIDERS: readonly ProviderOption[] = [
  {
    ...{ id: 'anthropic', title: 'Anthropic', asksAddress: false, key: 'required', models: [] },
    keyPage: 'https://console.anthropic.com/settings/keys',
  },
  {
    id: 'openai',
    title: 'OpenAI',
    asksAddress: false,
    key: 'required',
    keyVariable: 'OPENAI_API_KEY',
    models: [],
  },
  {
    id: 'ollama',
    title: 'Ollama',
    asksAddress: false,
    key: 'none',
    models: ['llama3.2', 'qwen3:30b-a3b-instruct-2507-q4_K_M'],
  },
  { id: 'gemini', title: 'Google Gemini', asksAddress: false, key: 'required', models: [] },
  { id: 'openrouter', title: 'OpenRouter', asksAddress: false, key: 'required', models: [] },
  { id: 'bedrock', title: 'Amazon Bedrock', asksAddress: false, key: 'optional', models: [] },
  { id: 'azure', title: 'Azure OpenAI', asksAddress: true, key: 'required', models: [] },
  { id: 'compatible', title: 'OpenAI-compatible', asksAddress: true, key: 'optional', models: [] },
]

/** Two schedules, of which one has failed. */
export const GOLDEN_SCHEDULES: readonly ScheduledEntry[] = [
  {
    ...{ id: 1, message: 'What do my notes say for today?', schedule: 'at 09:30, Monday to Friday' },
    ...{ address: 'crab/today', next: 'in 6h', last: 'ok 18h ago', failure: '', session: 's4' },
    times: ['Fri 2026-01-02 09:30:00', 'Mon 2026-01-05 09:30:00'],
  },
  {
    ...{ id: 2, message: '/check-feeds', schedule: 'every 20 minutes', address: 'crab/cron', next: 'in 12m' },
    ...{ last: 'failed 8m ago', session: undefined },
    failure: 'Cannot call opus-5.5: no key for anthropic',
    times: ['Fri 2026-01-02 03:20:00'],
  },
]

/** The findings about an installation with a problem that can be fixed. */
export const GOLDEN_SETUP: readonly SetupArea[] = [
  {
    area: 'program',
    findings: [{ status: 'ok', message: 'crabtalk 0.1.0 in ~/.local/bin', isFixable: false }],
  },
  {
    area: 'home',
    findings: [
      { status: 'ok', message: '~/.crabtalk, 41.3 MB', isFixable: false },
      {
        ...{
          status: 'problem',
          message: 'config.toml can be read by other users of this machine',
          isFixable: true,
        },
        hint: 'chmod 600 ~/.crabtalk/config.toml',
      },
    ],
  },
  {
    area: 'model',
    findings: [{ status: 'warning', message: 'no model is set', hint: 'crabtalk connect', isFixable: false }],
  },
]
