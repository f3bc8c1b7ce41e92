import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'smol-toml'
import { openVaultHome } from '../../src/commands/vault/home.ts'
import { toProviderKeyName } from '../../src/edge/credentials/provider-name.ts'
import { createVault, openVault } from '../../src/edge/vault/vault.ts'
import type { Keystrokes } from './typist.ts'

/** One run of the program that must succeed: it warms the code caches, and it tests the finished binary. */
export interface Scenario {
  program: 'crabtalk' | 'crabup'
  /**
   * The arguments. `{session}` stands for an existing session, `{server}` and `{docs}` for the commands of
   * MCP servers.
   */
  argv: readonly string[]
  /** The home. By default it has a model of each wire format; a fresh one has only the demo model. */
  home?: 'fresh'
  /** Standard input, which ends afterwards. */
  input?: string
  /** Runs on a terminal where this is typed. */
  keys?: readonly Keystrokes[]
  /** Uses the running daemon; the others run in their own process. */
  daemon?: true
  /** Is the daemon: the next scenarios run at the same time, until `daemon stop`. */
  background?: true
  /**
   * Users wait for its start: these run first, and the chunks they load are not compressed, with caches of
   * only what they use.
   */
  hot?: true
}

/** The name of an agent with an MCP server, all of whose tools it may call. */
export const CALLER = 'caller'

const CTRL_D = '\x04'
const BACKSPACE = '\x7f'
const ESC = '\x1b'

/**
 * The scenarios in order: later ones read what earlier ones wrote. A test checks that they cover every
 * command.
 */
export const SCENARIOS: readonly Scenario[] = [
  hot('help'),
  hot('__complete', '2', 'send', '--out'),
  { ...hot('send', '--model', 'demo', 'read config.toml'), home: 'fresh' },
  hot('send', '--model', 'loopback-anthropic', 'say hi'),
  hot('send', '--model', 'loopback-openai', '-s', 'build', 'say hi'),
  hot('send', '--model', 'loopback-openai', '-s', 'build', 'and again'),
  hot('send', '--model', 'loopback-vault', 'say hi'),
  hot('agent', 'list'),
  hot('conversation', 'list'),
  hot('send', '--model', 'loopback-openai', '-a', CALLER, 'call mcp__loop__echo {"text":"hi"}'),
  { ...hot('daemon', 'run'), background: true },
  { ...hot('send', '--model', 'loopback-openai', 'say hi'), daemon: true },
  { ...hot('daemon', 'stop'), daemon: true },
  {
    ...hot('chat', '--model', 'loopback-openai'),
    keys: [on(/\?2004h/, 'x'), on(/x/, BACKSPACE), on(/Ask anything/, CTRL_D)],
  },
  crabtalk('send', '--model', 'loopback-responses', 'say hi'),
  crabtalk('send', '--model', 'loopback-gemini', 'say hi'),
  crabtalk('send', '--model', 'loopback-bedrock', 'say hi'),
  {
    ...crabtalk('chat', '--model', 'loopback-openai', '--new'),
    keys: [
      on(/\?2004h/, 'show markdown\r'),
      on(/shownwhole.*Ask/s, 'call write {"path":"chat.md","content":"one\\n"}\r'),
      on(/A digit or arrows/, '1'), // a card ignores keys that were typed before it appeared
      on(/ {3}Enter answers 1/, '\r'),
      on(/Hi there\..*Ask/s, '/cron\r'),
      on(/No schedules/, '/doctor\r'),
      on(/Doctor: /, ESC),
      on(/Ask/, CTRL_D),
    ],
  },
  crabtalk('supervise'),
  { program: 'crabup', argv: ['supervise'] },
  crabtalk('send', '--help'),
  { ...crabtalk('daemon', 'run', '--port', '0', '--idle-exit', '10m'), background: true },
  { ...crabtalk('daemon', 'status'), daemon: true },
  { ...crabtalk('daemon', 'reload'), daemon: true },
  { ...crabtalk('attach', 'crab/build'), daemon: true, keys: [on(/and again[\s\S]*Ask/, CTRL_D)] },
  { ...crabtalk('asks', '--json'), daemon: true },
  { ...crabtalk('events', 'subscribe', 'build:warm', 'crab', '--once'), daemon: true },
  { ...crabtalk('events', 'list'), daemon: true },
  { ...crabtalk('events', 'unsubscribe', '1'), daemon: true },
  { ...crabtalk('events', 'publish', 'build:warm', 'done'), daemon: true },
  { ...crabtalk('events', 'trace'), daemon: true },
  crabtalk('events', '--help'),
  { ...crabtalk('conversation', 'kill', 'crab/build'), daemon: true },
  crabtalk('tail', '--help'),
  crabtalk('wait', '--help'),
  crabtalk('answer', '--help'),
  { ...crabtalk('daemon', 'stop'), daemon: true },
  crabtalk('token', 'new', 'warm'),
  crabtalk('token', 'list'),
  crabtalk('token', 'revoke', 'warm'),
  crabtalk('trust', 'add'),
  crabtalk('trust', 'list'),
  crabtalk('trust', 'remove'),
  crabtalk('licenses', '--help'), // the list does not exist yet when run from chunks
  crabtalk('cron', 'add', '@yearly', 'say hi'),
  crabtalk('cron', 'list'),
  crabtalk('cron', 'next'),
  crabtalk('cron', 'run', '1'),
  crabtalk('cron', 'remove', '1'),
  crabtalk('send', '--output', 'json', 'say hi'),
  crabtalk('version'),
  crabtalk('completions', 'bash'),
  crabtalk('doctor', '--json'),
  crabtalk('config', 'path'),
  crabtalk('config', 'check'),
  crabtalk('config', 'show'),
  crabtalk('config', 'set', 'tui.titles', 'off'),
  crabtalk('config', 'get', 'tui'),
  crabtalk('config', 'unset', 'tui.titles'),
  crabtalk('config', 'edit', '--help'),
  crabtalk('connect', '--help'),
  crabtalk('model', 'list'),
  crabtalk('model', 'use', '--help'),
  act('write', { path: 'notes.md', content: 'one\n' }),
  act('read', { path: 'notes.md' }),
  act('edit', { path: 'notes.md', edits: [{ old: 'one', new: 'two' }] }),
  crabtalk('conversation', 'undo'),
  act('glob', { pattern: '*.md' }),
  act('grep', { pattern: 'two', context: 1 }),
  act('grep', { pattern: 'two', mode: 'count' }),
  act('bash', { command: 'cat notes.md; echo done >&2' }),
  act('remember', { name: 'colour', content: 'Blue' }),
  act('recall', { query: 'colour' }),
  act('search_sessions', { query: 'build again' }),
  act('forget', { name: 'colour' }),
  crabtalk('conversation', 'search', 'say', 'hi'),
  crabtalk('conversation', 'show'),
  crabtalk('conversation', 'rename', '{session}', 'Warm'),
  crabtalk('conversation', 'context', '{session}'),
  crabtalk('conversation', 'diff', '{session}'),
  crabtalk('conversation', 'fork', '{session}'),
  crabtalk('conversation', 'compact', '--help'),
  crabtalk('conversation', 'rewind', '--help'),
  crabtalk('usage'),
  crabtalk('conversation', 'export'),
  crabtalk('conversation', 'delete', '{session}', '--yes'),
  crabtalk('skill', 'new', 'tidy', 'Tidies up; for use when asked'),
  crabtalk('skill', 'check'),
  crabtalk('skill', 'list'),
  crabtalk('skill', 'show', 'tidy'),
  crabtalk('memory', 'remember', 'deploy', '--alias', 'ship', 'Every Friday'),
  crabtalk('memory', 'rename', 'deploy', 'release'),
  crabtalk('memory', 'alias', 'release', 'rollout'),
  crabtalk('memory', 'list'),
  crabtalk('memory', 'show', 'rollout'),
  crabtalk('memory', 'search', 'friday'),
  crabtalk('memory', 'dump', 'brain'),
  crabtalk('memory', 'load', 'brain'),
  crabtalk('memory', 'forget', 'release', '--yes'),
  crabtalk('agent', 'create', 'tester', '--prompt', 'You test.'),
  crabtalk('agent', 'edit', 'tester', '--description', 'Tests'),
  crabtalk('agent', 'show', 'tester'),
  crabtalk('agent', 'rename', 'tester', 'checker'),
  crabtalk('agent', 'delete', 'checker', '--yes'),
  crabtalk('mcp', 'add', 'loop', '--', '{server}'),
  crabtalk('mcp', 'list'),
  crabtalk('mcp', 'get', 'loop'),
  crabtalk('mcp', 'ping'),
  crabtalk('mcp', 'tools'),
  crabtalk('mcp', 'call', 'loop', 'echo', 'text=hi'),
  crabtalk('mcp', 'add', 'docs', '--', '{docs}'),
  crabtalk('mcp', 'resources', 'docs'),
  crabtalk('mcp', 'read', 'docs', 'docs://readme'),
  crabtalk('mcp', 'prompts', 'docs'),
  crabtalk('mcp', 'prompt', 'docs', 'hello'),
  crabtalk('mcp', 'remove', 'docs'),
  crabtalk('mcp', 'set', 'loop', 'timeout_ms=9000'),
  crabtalk('mcp', 'disable', 'loop'),
  crabtalk('mcp', 'enable', 'loop'),
  crabtalk('mcp', 'export'),
  crabtalk('mcp', 'health'),
  crabtalk('mcp', 'view', 'crab'),
  crabtalk('mcp', 'doctor'),
  crabtalk('mcp', 'cost'),
  { ...crabtalk('daemon', 'run'), background: true },
  { ...crabtalk('mcp', 'reconnect', 'loop'), daemon: true },
  { ...crabtalk('mcp', 'ps'), daemon: true },
  { ...crabtalk('mcp', 'logs', 'loop'), daemon: true },
  { ...crabtalk('daemon', 'stop'), daemon: true },
  crabtalk('mcp', 'catalog', 'time'),
  crabtalk('mcp', 'info', 'time'),
  crabtalk('mcp', 'install', 'time', '--print'),
  ...['login', 'logout', 'token', 'import', 'trace'].map((verb) => crabtalk('mcp', verb, '--help')),
  crabtalk('vault', 'status'),
  crabtalk('vault', 'list'),
  crabtalk('vault', 'key', 'kept'),
  ...['init', 'set', 'get', 'remove', 'explain', 'env', 'header', 'rotate-key'].map((verb) =>
    crabtalk('vault', verb, '--help'),
  ),
  { ...crabtalk('mcp', 'serve'), input: hostLines() },
  crabtalk('policy', 'why', 'mcp__loop__echo'),
  crabtalk('policy', 'why', 'bash(git status)'),
  crabtalk('policy', 'add', 'bash(git fetch)'),
  crabtalk('policy', 'list'),
  crabtalk('policy', 'remove', 'bash(git fetch)'),
  crabtalk('mcp', 'remove', 'loop'),
  { program: 'crabup', argv: ['version'] },
  { program: 'crabup', argv: ['completions', 'zsh'] },
  { program: 'crabup', argv: ['__complete', '1', 'ver'] },
  { program: 'crabup', argv: ['help'] },
  { program: 'crabup', argv: ['self', 'update', '--help'] },
  { program: 'crabup', argv: ['ps'] },
  { program: 'crabup', argv: ['logs'] },
  { program: 'crabup', argv: ['daemon', 'logs'] },
  { program: 'crabup', argv: ['doctor'] },
  { program: 'crabup', argv: ['uninstall', '--dry-run'] },
  { program: 'crabup', argv: ['list'] },
  { program: 'crabup', argv: ['update'] },
  { program: 'crabup', argv: ['pkg', 'list'] },
  ...[['pull'], ['rm'], ['pkg', 'add'], ['pkg', 'remove']].map(
    (verb): Scenario => ({ program: 'crabup', argv: [...verb, '--help'] }),
  ),
  ...['start', 'stop', 'restart', 'status', 'enable', 'disable'].map(
    (verb): Scenario => ({ program: 'crabup', argv: ['daemon', verb, '--help'] }),
  ),
]

/** Writes a home with a model of each wire format at that URL, and returns its environment. */
export async function makeHome(folder: string, modelUrl: string): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true })
  const providers = WIRES.map(({ kind, model, path }) =>
    [
      '[[providers]]',
      `name = "${kind}"`,
      `kind = "${kind}"`,
      `base_url = ${JSON.stringify(new URL(path, modelUrl).href)}`,
      'api_key = "none"',
      `models = ["${model}"]`,
    ].join('\n'),
  )
  providers.push(
    `[[providers]]
name = "kept"
kind = "openai-compatible"
base_url = ${JSON.stringify(new URL('/v1', modelUrl).href)}
key_helper = ["crabtalk", "vault", "key", "kept"]
models = ["loopback-vault"]`,
  )
  await writeFile(join(folder, 'config.toml'), `${providers.join('\n\n')}\n`, { mode: 0o600 })
  const env = { HOME: folder, CRABTALK_HOME: folder, XDG_CONFIG_HOME: join(folder, 'user') }
  await storeKey(env)
  return env
}

/** Stores the key of the provider that has it in the vault, as `crabtalk connect` does. */
async function storeKey(env: Readonly<Record<string, string>>): Promise<void> {
  const host = { env, pid: process.pid, cwd: () => env['HOME']!, homeDir: env['HOME']! }
  await using home = await openVaultHome(host)
  const never = new AbortController().signal
  await createVault(home, 'file', never)
  await (await openVault(home))!.set({ [toProviderKeyName('kept')]: 'none' }, never)
}

/** Writes the agent with this MCP server to a home. */
export async function writeCaller(
  home: string,
  name: string,
  [command, ...args]: readonly string[],
): Promise<void> {
  const agents = join(home, 'agents')
  await mkdir(agents, { recursive: true })
  const entry = { name, command, args, permissions: { allow: ['*'] } }
  await writeFile(join(agents, `${CALLER}.toml`), stringify({ mcps: [entry] }))
  await writeFile(join(agents, `${CALLER}.md`), 'You call tools.\n')
}

/** A provider of each kind, with its model and the path of its wire format. */
const WIRES = [
  { kind: 'openai-compatible', model: 'loopback-openai', path: '/v1' },
  { kind: 'anthropic', model: 'loopback-anthropic', path: '/v1' },
  { kind: 'openai', model: 'loopback-responses', path: '/v1/responses' },
  { kind: 'google', model: 'loopback-gemini', path: '/v1beta' },
  { kind: 'bedrock', model: 'loopback-bedrock', path: '/' },
  { kind: 'azure', model: 'loopback-azure', path: '/' },
] as const

/** Yields each scenario with its command line and environment, with homes in `folder`. */
export async function* eachScenario(
  folder: string,
  modelUrl: string,
): AsyncGenerator<Scenario & { env: Record<string, string> }> {
  const home = join(folder, 'home')
  const fresh = join(folder, 'fresh')
  const own = await makeHome(home, modelUrl)
  await writeCaller(home, 'loop', SERVER)
  for (const scenario of SCENARIOS) {
    const argv = await fillIn(scenario.argv, home)
    const env = scenario.home ? { HOME: fresh, CRABTALK_HOME: fresh } : own
    yield { ...scenario, argv, env: scenario.daemon ? env : { ...env, CRABTALK_NO_DAEMON: '1' } }
  }
}

/** Resolves when the daemon of that home listens. */
export async function daemonListens({ CRABTALK_HOME: home = '' }: Record<string, string>): Promise<void> {
  const deadline = performance.now() + DAEMON_MS
  while (!existsSync(join(home, 'run/crabtalk.sock'))) {
    if (performance.now() > deadline) throw new Error(`No daemon listens for ${home}`)
    await sleep(5)
  }
}

const DAEMON_MS = 30_000

async function fillIn(argv: readonly string[], home: string): Promise<string[]> {
  const files = argv.includes('{session}') ? await readdir(join(home, 'sessions')) : []
  return argv.flatMap((word) => {
    if (word === '{server}') return SERVER
    if (word === '{docs}') return DOCS
    return word === '{session}' ? files[0]!.replace(/\.jsonl$/, '') : word
  })
}

/** A server that only echoes and adds. */
const SERVER = [
  process.execPath,
  join(import.meta.dirname, '../../test/support/mcp/misbehaving-server.ts'),
  '--tools=few',
]

/** A server with resources and prompts. */
const DOCS = [process.execPath, join(import.meta.dirname, '../../test/support/mcp/asking-server.ts')]

/** The first messages of an MCP host. */
function hostLines(): string {
  const clientInfo = { name: 'warm-up', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const messages = [
    { id: 1, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
  ]
  return messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
}

/** A turn whose model calls this tool, which must succeed. */
function act(tool: string, args: object): Scenario {
  const options = ['--model', 'loopback-openai', '-s', 'tools', '--yolo', '--fail-on-tool-error']
  return crabtalk('send', ...options, `call ${tool} ${JSON.stringify(args)}`)
}

function on(screen: RegExp, type: string): Keystrokes {
  return { on: screen, type }
}

function hot(...argv: string[]): Scenario {
  return { ...crabtalk(...argv), hot: true }
}

function crabtalk(...argv: string[]): Scenario {
  return { program: 'crabtalk', argv }
}
