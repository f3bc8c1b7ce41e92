import { toShownJson } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { renderPair, renderToml } from '../../core/config/toml-render.ts'
import type { ForeignKind } from './foreign-kinds.ts'
import type { PortableServer } from './portable-server.ts'

/** The text of a file for another program, and what it does not contain. */
export interface ExportedServers {
  text: string
  /** Sentences without a full stop. */
  notices: string[]
}

/** Writes servers as the configuration of another program. Its text contains placeholders in place of values. */
export function exportServers(servers: readonly PortableServer[], kind: ForeignKind): ExportedServers {
  const format = FORMATS[kind]
  const notices: string[] = []
  const taken = servers.filter(({ name, url }) => {
    if (url === undefined || format.remote) return true
    notices.push(`${name} is left out: the file has no remote servers`)
    return false
  })
  const tables = taken.map((server): [string, JsonObject] => {
    const adapted = withSyntax(server, format.toPlaceholder)
    const table = compact(server.url === undefined ? format.local(adapted) : (format.remote?.(adapted) ?? {}))
    const lost = format.toPlaceholder('A', 'b') === format.toPlaceholder('A') ? listDefaults(server) : []
    const left = [...server.left, ...listMissing(server, format), ...lost]
    if (left.length > 0) notices.push(`${server.name}: without ${left.join(', ')}`)
    return [server.name, table]
  })
  if (format.toFill) {
    const names = [...new Set(servers.flatMap(listPlaceholders))]
    if (names.length > 0) notices.push(`fill in ${names.join(', ')}: the program expands no variables`)
  }
  return { text: format.write(tables, taken), notices }
}

/** The form in which a program has its servers. */
interface ExportFormat {
  toPlaceholder(name: string, fallback?: string): string
  local(server: PortableServer): JsonObject
  /** Absent when the program has no remote servers in its file. */
  remote?(server: PortableServer): JsonObject
  /** The parts that local() and remote() write. */
  has: readonly Part[]
  /** Whether the user has to replace the placeholders. */
  toFill?: true
  write(tables: readonly [string, JsonObject][], servers: readonly PortableServer[]): string
}

type Part = 'cwd' | 'include' | 'exclude' | 'timeouts' | 'disabled'

function listMissing(server: PortableServer, { has }: ExportFormat): string[] {
  const { cwd, include, exclude, startupMs, callMs, isDisabled } = server
  const used: Record<Part, boolean> = {
    cwd: cwd !== undefined,
    include: include !== undefined,
    exclude: exclude !== undefined,
    timeouts: startupMs !== undefined || callMs !== undefined,
    disabled: isDisabled,
  }
  return (Object.keys(used) as Part[]).filter((part) => used[part] && !has.includes(part))
}

/** Returns the names of the placeholders of a server, in order. */
function listPlaceholders({ command = '', args, env, url = '', headers }: PortableServer): string[] {
  const texts = [command, ...args, ...Object.values(env), url, ...Object.values(headers)]
  return texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))
}

/** Describes the defaults of a server's variables. */
function listDefaults({ env, headers }: PortableServer): string[] {
  const texts = [...Object.values(env), ...Object.values(headers)]
  const found = texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)])
  return found.flatMap(([, name, fallback]) => (fallback === undefined ? [] : [`the default of ${name}`]))
}

function withSyntax(server: PortableServer, toPlaceholder: ExportFormat['toPlaceholder']): PortableServer {
  const convert = (text: string) =>
    text.replaceAll(PLACEHOLDER, (_, name: string, fallback?: string) => toPlaceholder(name, fallback))
  const convertAll = (table: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(table).map(([key, text]) => [key, convert(text)]))
  return {
    ...server,
    ...(server.command !== undefined && { command: convert(server.command) }),
    args: server.args.map(convert),
    env: convertAll(server.env),
    ...(server.url !== undefined && { url: convert(server.url) }),
    headers: convertAll(server.headers),
  }
}

/** Removes keys without a value: undefined, empty lists and empty tables. */
function compact(table: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(table).filter(([, value]) => {
      return value !== undefined && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0)
    }),
  )
}

function writeJson(key: string) {
  return (tables: readonly [string, JsonObject][], more: JsonObject = {}) =>
    `${toShownJson({ ...more, [key]: Object.fromEntries(tables) }, 2)}\n`
}

function writeTables(key: string) {
  return (tables: readonly [string, JsonObject][]) => {
    const blocks = tables.map(([name, table]) => {
      const lines = Object.entries(table).map(([key, value]) => `${renderPair(key, value)}\n`)
      return `[${key}.${name}]\n${lines.join('')}`
    })
    return blocks.join('\n')
  }
}

const writeMcpServers = (tables: readonly [string, JsonObject][]) => writeJson('mcpServers')(tables)
const toProgram = ({ command, args, env }: PortableServer) => ({ command, args, env })
const toBraces = (name: string, fallback?: string) =>
  fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`
const toEnvBraces = (name: string) => `\${env:${name}}`
const toSeconds = (milliseconds: number | undefined) =>
  milliseconds === undefined ? undefined : milliseconds / 1000
const toMaybe = (isOn: boolean, value: boolean) => (isOn ? value : undefined)

/** Writes the inputs that VS Code asks for beside the servers. */
function writeVsCode(tables: readonly [string, JsonObject][], servers: readonly PortableServer[]): string {
  const names = [...new Set(servers.flatMap(listPlaceholders))]
  const inputs = names.map((id) => ({ type: 'promptString', id, description: id, password: true }))
  return writeJson('servers')(tables, inputs.length > 0 ? { inputs } : {})
}

/** Writes the keys of Codex: variables that have the name of their placeholder are passed on by name. */
function toCodexProgram({ command, args, env, cwd, ...server }: PortableServer): JsonObject {
  const own = Object.entries(env).filter(([key, text]) => text === `\${${key}}`)
  const others = Object.entries(env).filter(([key, text]) => text !== `\${${key}}`)
  return {
    command,
    args,
    env_vars: own.map(([key]) => key),
    env: Object.fromEntries(others),
    cwd,
    ...toCodexLimits(server),
  }
}

function toCodexRemote({ url, headers, ...server }: PortableServer): JsonObject {
  const token = /^Bearer \$\{(\w+)\}$/.exec(headers['Authorization'] ?? '')?.[1]
  const others = Object.entries(headers).filter(([key]) => token === undefined || key !== 'Authorization')
  const named = others.flatMap(([key, text]) => {
    const name = /^\$\{(\w+)\}$/.exec(text)?.[1]
    return name === undefined ? [] : [[key, name]]
  })
  const literal = others.filter(([, text]) => !/^\$\{\w+\}$/.test(text))
  return {
    url,
    bearer_token_env_var: token,
    env_http_headers: Object.fromEntries(named),
    http_headers: Object.fromEntries(literal),
    ...toCodexLimits(server),
  }
}

function toCodexLimits(
  server: Pick<PortableServer, 'include' | 'exclude' | 'startupMs' | 'callMs' | 'isDisabled'>,
): JsonObject {
  return {
    enabled_tools: server.include,
    disabled_tools: server.exclude,
    startup_timeout_sec: toSeconds(server.startupMs),
    tool_timeout_sec: toSeconds(server.callMs),
    enabled: toMaybe(server.isDisabled, false),
  }
}

function toLibrefang({ env, callMs, headers, ...server }: PortableServer): JsonObject {
  return {
    timeout_secs: toSeconds(callMs),
    env: Object.entries(env).map(([key, text]) => (text === `\${${key}}` ? key : `${key}=${text}`)),
    headers,
    transport:
      server.url === undefined
        ? compact({ type: 'stdio', command: server.command, args: server.args })
        : { type: server.transport ?? 'http', url: server.url },
  }
}

function toOwn(server: PortableServer): JsonObject {
  const { command, args, env, cwd, url, transport, headers, include, exclude, startupMs, callMs } = server
  const limits = {
    startup_timeout_ms: startupMs,
    timeout_ms: callMs,
    disabled: toMaybe(server.isDisabled, true),
  }
  return { command, args, env, cwd, url, transport, headers, include, exclude, ...limits }
}

function toGemini({ include, exclude, callMs }: PortableServer): JsonObject {
  return { timeout: callMs, includeTools: include, excludeTools: exclude }
}

const FORMATS: Readonly<Record<ForeignKind, ExportFormat>> = {
  claude: {
    toPlaceholder: toBraces,
    local: toProgram,
    remote: ({ url, transport = 'http', headers }) => ({ type: transport, url, headers }),
    has: [],
    write: writeMcpServers,
  },
  'claude-desktop': {
    toPlaceholder: toBraces,
    local: toProgram,
    has: [],
    toFill: true,
    write: writeMcpServers,
  },
  cursor: {
    toPlaceholder: toEnvBraces,
    local: toProgram,
    remote: ({ url, headers }) => ({ url, headers }),
    has: [],
    write: writeMcpServers,
  },
  vscode: {
    toPlaceholder: (name) => `\${input:${name}}`,
    local: (server) => ({ type: 'stdio', ...toProgram(server), cwd: server.cwd }),
    remote: ({ url, transport = 'http', headers }) => ({ type: transport, url, headers }),
    has: ['cwd'],
    write: writeVsCode,
  },
  windsurf: {
    toPlaceholder: toEnvBraces,
    local: (server) => ({
      ...toProgram(server),
      disabledTools: server.exclude,
      disabled: toMaybe(server.isDisabled, true),
    }),
    remote: ({ url, headers, exclude, isDisabled }) => ({
      serverUrl: url,
      headers,
      disabledTools: exclude,
      disabled: toMaybe(isDisabled, true),
    }),
    has: ['exclude', 'disabled'],
    write: writeMcpServers,
  },
  zed: {
    toPlaceholder: toBraces,
    local: (server) => ({
      source: 'custom',
      ...toProgram(server),
      enabled: toMaybe(server.isDisabled, false),
    }),
    remote: ({ url, headers, isDisabled }) => ({ url, headers, enabled: toMaybe(isDisabled, false) }),
    has: ['disabled'],
    toFill: true,
    write: (tables) => writeJson('context_servers')(tables),
  },
  codex: {
    toPlaceholder: toBraces,
    local: toCodexProgram,
    remote: toCodexRemote,
    has: ['cwd', 'include', 'exclude', 'timeouts', 'disabled'],
    write: writeTables('mcp_servers'),
  },
  gemini: {
    toPlaceholder: toBraces,
    local: (server) => ({ ...toProgram(server), cwd: server.cwd, ...toGemini(server) }),
    remote: (server) => ({
      [server.transport === 'sse' ? 'url' : 'httpUrl']: server.url,
      headers: server.headers,
      ...toGemini(server),
    }),
    has: ['cwd', 'include', 'exclude', 'timeouts'],
    write: writeMcpServers,
  },
  opencode: {
    toPlaceholder: (name) => `{env:${name}}`,
    local: ({ command, args, env, isDisabled, startupMs }) => ({
      type: 'local',
      command: [command, ...args],
      environment: env,
      enabled: !isDisabled,
      timeout: startupMs,
    }),
    remote: ({ url, headers, isDisabled, startupMs }) => ({
      type: 'remote',
      url,
      headers,
      enabled: !isDisabled,
      timeout: startupMs,
    }),
    has: ['disabled', 'timeouts'],
    write: (tables) => writeJson('mcp')(tables, { $schema: 'https://opencode.ai/config.json' }),
  },
  librefang: {
    toPlaceholder: toBraces,
    local: toLibrefang,
    remote: toLibrefang,
    has: ['timeouts'],
    write: (tables) => renderToml({ mcp_servers: tables.map(([name, table]) => ({ name, ...table })) }),
  },
  caliban: {
    toPlaceholder: toBraces,
    local: toOwn,
    remote: toOwn,
    has: ['cwd', 'include', 'exclude', 'timeouts', 'disabled'],
    write: writeTables('server'),
  },
}

const PLACEHOLDER = /\$\{(\w+)(?::-([^{}]*))?\}/g
