import { REDACTED } from '../../core/base/secrets/redact.ts'
import {
  isVaultHelper,
  parseVaultWord,
  renameCredentials,
  toPlainName,
} from '../../core/base/secrets/vault-words.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { redactEntry } from '../../core/config/secrets.ts'
import { formatPath, type KeyPath } from '../../core/config/validation-issue.ts'
import { toVariable } from './imported-entry.ts'

/** A server in a form for other programs: every value that might be a secret is a placeholder `${NAME}`. */
export interface PortableServer {
  name: string
  command?: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd?: string
  url?: string
  transport?: 'http' | 'sse'
  headers: Readonly<Record<string, string>>
  include?: readonly string[]
  exclude?: readonly string[]
  startupMs?: number
  callMs?: number
  isDisabled: boolean
  /** The keys of the entry that have no form for other programs. */
  left: readonly string[]
}

/** Converts an entry. Values of `env`, headers and tokens never stay, whether they look like secrets or not. */
export function toPortableServer(entry: McpEntry): PortableServer {
  const { name, command, args = [], cwd, url, transport, include, exclude, origin } = redactEntry(entry)
  const { canonical = {} } = origin ?? {}
  const restore = (path: KeyPath, text: string, option = '') => {
    const template = canonical[formatPath(path)]
    if (template !== undefined && PLACEHOLDER.test(template) && !template.includes(REDACTED)) return template
    return text.replaceAll(REDACTED, () => `\${${toVariable(name, option.replace(/^-+/, '') || 'SECRET')}}`)
  }
  return {
    name,
    ...(command !== undefined && { command: restore(['command'], command) }),
    args: args.map((word, i) => restore(['args', i], word, args[i - 1]?.startsWith('-') ? args[i - 1] : '')),
    env: listVariables(entry, restore),
    ...(cwd !== undefined && { cwd }),
    ...(url !== undefined && { url: restore(['url'], url) }),
    ...(transport !== undefined && { transport }),
    headers: listHeaders(entry, restore),
    ...(include && { include }),
    ...(exclude && { exclude }),
    ...(entry.startup_timeout_ms !== undefined && { startupMs: entry.startup_timeout_ms }),
    ...(entry.timeout_ms !== undefined && { callMs: entry.timeout_ms }),
    isDisabled: entry.disabled === true,
    left: listLeftOut(entry),
  }
}

type Restore = (path: KeyPath, text: string) => string

function listVariables(
  { env = {}, env_helper: helper = [] }: McpEntry,
  restore: Restore,
): Record<string, string> {
  const own = Object.keys(env).map((key) => [key, restore(['env', key], `\${${key}}`)])
  const words = isVaultHelper(helper, 'env') ? helper.slice(3) : []
  const helped = words.map(parseVaultWord).map(({ key, template }) => {
    const text = toPortableText(template)
    return [key ?? text.slice(2, -1), text]
  })
  return Object.fromEntries([...own, ...helped])
}

function listHeaders(
  { name, headers = {}, auth, auth_helper: helper = [] }: McpEntry,
  restore: Restore,
): Record<string, string> {
  const own = Object.keys(headers).map((key) => {
    const isLogin = /^authorization$/i.test(key)
    const text = `${isLogin ? 'Bearer ' : ''}\${${toVariable(name, isLogin ? 'TOKEN' : key)}}`
    return [key, restore(['headers', key], text)]
  })
  const token = auth === undefined ? [] : [['Authorization', `Bearer \${${toVariable(name, 'TOKEN')}}`]]
  const words = isVaultHelper(helper, 'header') ? helper.slice(3) : []
  const helped = words.map(parseVaultWord).map(({ key, template }) => {
    const text = toPortableText(template)
    return key === undefined ? ['Authorization', `Bearer ${text}`] : [key, text]
  })
  return Object.fromEntries([...own, ...token, ...helped])
}

/** Converts the text of a vault helper: `SERVER/NAME` has no form elsewhere, and defaults with secrets are left out. */
function toPortableText(template: string): string {
  return renameCredentials(template, toPlainName).replaceAll(
    /:-(?:[^{}]*\[secret\][^{}]*|[^{}]*\$\{[^{}]*\}[^{}]*)(?=\})/g,
    '',
  )
}

function listLeftOut(entry: McpEntry): string[] {
  const { env_helper: variables, auth_helper: headers } = entry
  return [
    ...(variables && !isVaultHelper(variables, 'env') ? ['env_helper'] : []),
    ...(headers && !isVaultHelper(headers, 'header') ? ['auth_helper'] : []),
    ...Object.keys(entry).filter((key) => !PORTABLE_KEYS.has(key)),
  ]
}

/** The keys of an entry that have a form in the files of some other program. */
const PORTABLE_KEYS = new Set([
  ...['name', 'command', 'args', 'env', 'env_helper', 'cwd', 'disabled', 'origin'],
  ...['url', 'headers', 'auth', 'auth_helper', 'transport', 'include', 'exclude'],
  ...['startup_timeout_ms', 'timeout_ms'],
])
const PLACEHOLDER = /\$\{\w+\}/
