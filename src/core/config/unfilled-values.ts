import { CrabError } from '../base/errors.ts'
import { REDACTED } from '../base/secrets/redact.ts'
import { findPlaceholder } from '../base/secrets/unfilled.ts'
import { isVaultHelper } from '../base/secrets/vault-words.ts'
import { DEFAULT_AGENT } from './default-name.ts'
import type { McpEntry } from './mcp-entry.ts'
import { formatPath, type KeyPath } from './validation-issue.ts'

/** A value of an entry that is still to be filled in. */
export interface PlaceholderValue {
  /** The path in the entry: `['env', 'TOKEN']`, `['args', 0]`. */
  path: KeyPath
  /** The placeholder, such as `${TOKEN}` or `<YOUR_KEY>`; never a secret. */
  placeholder: string
}

/**
 * Finds the placeholders of an entry. Every value is literal, so a server would receive `${TOKEN}`
 * unexpanded.
 *
 * Variables are allowed in scripts for a shell or an interpreter, and in arguments when the entry's `env` has
 * them, or its `env_helper` names them.
 */
export function findUnfilledValues(entry: McpEntry): PlaceholderValue[] {
  const { env = {}, headers = {}, auth, url, command, args = [] } = entry
  const { auth_helper: authHelper = [], env_helper: envHelper = [] } = entry
  const commandWords = [
    ...words('args', [command ?? '', ...args]),
    ...(isVaultHelper(authHelper) ? [] : words('auth_helper', authHelper)), // it expands its own words
    ...(isVaultHelper(envHelper) ? [] : words('env_helper', envHelper)),
  ]
  const values: [KeyPath, string | undefined][] = [
    ...Object.entries(env).map(([key, value]): [KeyPath, string] => [['env', key], value]),
    ...Object.entries(headers).map(([key, value]): [KeyPath, string] => [['headers', key], value]),
    [['auth'], auth],
    [['url'], url],
    ...commandWords,
  ]
  return values.flatMap(([path, value]) => {
    const placeholder = findPlaceholder(value ?? '')
    const name = /^\$\{?(\w+)/.exec(placeholder ?? '')?.[1]
    const isHelped = name !== undefined && envHelper.some((word) => word.split('=')[0] === name)
    const isOwn = path[0] !== 'env' && name !== undefined && (isHelped || Object.hasOwn(env, name))
    return placeholder === undefined || isOwn ? [] : [{ path, placeholder }]
  })
}

/**
 * Throws `invalid` for a server whose arguments or address contain `${NAME}`: an agent's entry is literal, so that the
 * server would receive the name in place of a value.
 */
export function refuseUnexpanded(task: string, entry: McpEntry): void {
  const found = findUnfilledValues(entry).find(
    ({ path, placeholder }) => (path[0] === 'args' || path[0] === 'url') && VARIABLE.test(placeholder),
  )
  if (!found) return
  const { path, placeholder } = found
  throw new CrabError(
    'invalid',
    `${task}: ${formatPath(path)} contains ${placeholder}, which nothing fills in`,
    {
      hint: FILL_IN,
    },
  )
}

/** Returns the paths where REDACTED was stored in place of a secret, as earlier versions did. */
export function findLostSecrets(entry: McpEntry): KeyPath[] {
  const { env = {}, headers = {}, auth = '', url = '', args = [] } = entry
  const texts: [KeyPath, string][] = [
    ...Object.entries(env).map(([key, value]): [KeyPath, string] => [['env', key], value]),
    ...Object.entries(headers).map(([key, value]): [KeyPath, string] => [['headers', key], value]),
    [['auth'], auth],
    [['url'], url],
    ...args.map((word, i): [KeyPath, string] => [['args', i], word]),
  ]
  return texts.filter(([, text]) => text.includes(REDACTED)).map(([path]) => path)
}

/** Describes an unfilled value, as a sentence without a full stop, and the fix. */
export function toUnfilledText(
  server: string,
  agent: string,
  { path, placeholder }: PlaceholderValue,
): { message: string; hint: string } {
  const [key = '', name = ''] = path
  const set = `crabtalk mcp set ${agent === DEFAULT_AGENT ? '' : `-a ${agent} `}${server}`
  const message = `${formatPath(path)} of the server "${server}" is the placeholder ${placeholder}, which is sent literally`
  if (key === 'env') return { message, hint: `give the value: ${set} --env ${name} takes it from this shell` }
  if (key !== 'headers' && VARIABLE.test(placeholder)) return { message, hint: FILL_IN }
  const example = key === 'headers' ? `--header '${name}: VALUE'` : `'${key}=…'`
  return { message, hint: `give the value: ${set} ${example}` }
}

/** Returns the words of a command line, except the program of `args` and scripts. */
function words(key: string, list: readonly string[]): [KeyPath, string][] {
  return list.flatMap((word, i): [KeyPath, string][] => {
    const isScript = /\s/.test(word) && /^(?:-[a-z]*[ce]|--eval|--command|\/c)$/i.test(list[i - 1] ?? '')
    if (isScript || (key === 'args' && i === 0)) return []
    return [[[key, key === 'args' ? i - 1 : i], word]]
  })
}

const VARIABLE = /^\$\{\w+(?::-[^{}]*)?\}$/
/** The advice for variables in places where a literal value would be visible to others. */
const FILL_IN =
  'a mcp.toml fills it in from the vault: use --scope user with crabtalk mcp import or mcp add, and remove this one'
