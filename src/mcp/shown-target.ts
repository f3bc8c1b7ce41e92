import { hidePassword, REDACTED } from '../core/config/secrets.ts'
import type { ServerTarget } from './fingerprint.ts'

/** A target as people may see it: its command line or address, without what looks like a secret. */
export function showTarget(target: ServerTarget): string {
  if (target.transport !== 'stdio') return hidePassword(target.url).replace(/\?.*$/, '?…')
  return showWords([target.command, ...target.args])
    .map(quote)
    .join(' ')
}

/** The words of a command line, without what looks like a secret. */
export function showWords(words: readonly string[]): string[] {
  return words.map((word, at) => showWord(word, words[at - 1] ?? ''))
}

/** A server's words without the secrets that were given to it: they may reach a model. */
export function hideSecrets(text: string, target: ServerTarget): string {
  return secretsOf(target).reduce((shown, secret) => shown.replaceAll(secret, REDACTED), text)
}

function showWord(word: string, before: string): string {
  if (SECRET_OPTION.test(before)) return REDACTED
  const [, option] = /^(--?[\w-]+=)./.exec(word) ?? []
  if (option !== undefined && SECRET_NAME.test(option)) return option + REDACTED
  return hidePassword(word)
}

/** Long ones only: a short value is found in words that have nothing to do with it. */
function secretsOf(target: ServerTarget): string[] {
  const values = target.transport === 'stdio' ? target.env : target.headers
  const named = Object.entries(values).filter(([name]) => SECRET_NAME.test(name))
  const auth = target.transport === 'stdio' || target.auth === undefined ? [] : [target.auth]
  return [...named.map(([, value]) => value), ...auth].filter((value) => value.length >= MIN_SECRET)
}

function quote(word: string): string {
  return /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

const SECRET_NAME = /key|token|secret|passw|pwd|auth|cred|cookie/i
const SECRET_OPTION = /^--?[\w-]*(key|token|secret|passw|pwd|auth|cred)[\w-]*$/i
const MIN_SECRET = 8
