import { quoteWord } from '../../core/base/quote-word.ts'
import { redactValue, redactWords } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { isTable } from '../../core/config/schema.ts'
import { renderValue } from '../../core/config/toml-render.ts'
import type { EdgeServer } from './types.ts'

/** The parts of a server that are shown. */
type ShownServer = Pick<EdgeServer, 'name' | 'table'> & Partial<Pick<EdgeServer, 'oauth' | 'oauthConfig'>>

/**
 * Describes what a server would run, read and send, as lines for the user who decides about it. Every key has a
 * line, also of a server that is turned off, with its value unshortened and its secrets visible: a part that is
 * left out could be the one that matters. Control characters are escaped.
 */
export function describeServer({
  name,
  table,
  problem,
  oauth = 'auto',
  oauthConfig,
}: ShownServer & Pick<EdgeServer, 'problem'>): string[] {
  const { command, args, url, cwd, env, headers, disabled, ...rest } = table
  const lines = [
    ...(disabled === true ? ['turned off here, and not started'] : []),
    ...(command === undefined ? [] : [`runs ${joinWords([command, ...toList(args)])}`]),
    ...(command === undefined && args !== undefined ? [`args = ${renderValue(args)}`] : []),
    ...(url === undefined ? [] : [`connects to ${toText(url)}`]),
    ...(cwd === undefined ? [] : [`works in ${toText(cwd)}`]),
    ...toPairs(env).map(([key, value]) => `with ${key}=${toText(value)}`),
    ...toPairs(headers).map(([key, value]) => `sends ${key}: ${toText(value)}`),
    ...(disabled === undefined || disabled === true ? [] : [`disabled = ${renderValue(disabled)}`]),
    ...Object.entries(rest).map(([key, value]) => `${key} = ${renderValue(value)}`),
    ...listUnasked(rest['permissions']).map((tool) => `runs the tool ${tool} without asking you`),
    ...(oauth === 'auto' ? [] : [`oauth = ${renderValue(oauth)}`]),
    ...toPairs(oauthConfig).map(([key, value]) => `oauth_config.${key} = ${renderValue(value)}`),
    ...(problem === '' ? [] : [`cannot be used: ${problem}`]),
  ]
  return [escapeLine(name), ...lines.map((line) => `  ${escapeLine(line)}`)]
}

/**
 * Describes a server on one line, which may be stored to show later what changed. Leaves out `auth`, hides the
 * values of `env` and `headers`, and hides what looks like a secret in the command line, the address, lists and
 * `oauth_config`.
 */
export function summarizeServer({ name, table, oauth = 'auto', oauthConfig }: ShownServer): string {
  const { command, args, url, env, headers, ...rest } = table
  const words = redactWords([command, ...toList(args)].filter((word) => word !== undefined).map(toText))
  const { auth: _, ...safe } = rest
  const parts = [
    ...(words.length === 0 ? [] : [words.map(quoteWord).join(' ')]),
    ...(url === undefined ? [] : redactWords([toText(url)])),
    ...toPairs(env).map(([key, value]) => `${key}=${redactValue(toText(value))}`),
    ...toPairs(headers).map(([key, value]) => `${key}: ${redactValue(toText(value))}`),
    ...Object.entries(safe).map(([key, value]) => `${key} = ${renderValue(redactList(value))}`),
    ...(oauth === 'auto' ? [] : [`oauth = ${renderValue(oauth)}`]),
    ...toPairs(oauthConfig).map(([key, value]) => {
      const shown = isSecretName(key) ? redactValue(toText(value)) : redactList(value)
      return `oauth_config.${key} = ${renderValue(shown)}`
    }),
  ]
  return escapeLine(`${name}: ${parts.join(', ')}`)
}

/** Lists the tools that an entry allows itself, as it writes them. */
function listUnasked(permissions: unknown): string[] {
  return isTable(permissions) ? toList(permissions['allow']).map(toText) : []
}

/** Redacts the secrets of a command line, such as that of an auth helper. */
function redactList(value: unknown): unknown {
  return Array.isArray(value) ? redactWords(value.map(toText)) : value
}

function joinWords(words: readonly unknown[]): string {
  return words.map((word) => quoteWord(toText(word))).join(' ')
}

function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

function toPairs(value: unknown): [string, unknown][] {
  if (value === undefined) return []
  return isTable(value) ? Object.entries(value) : [['', value]]
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : renderValue(value)
}
