import { hideSecretsIn, REDACTED, redactWords } from '../../core/base/secrets/redact.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { collectSecrets } from './target-secrets.ts'

/** Formats a target for display: its command line or URL, without anything that looks like a secret. */
export function showTarget(target: ServerTarget): string {
  if (target.transport !== 'stdio') {
    return redactWords([target.url.replace(/\?.*$/s, '?…')]).join('')
  }
  return redactWords([target.command, ...target.args])
    .map(quote)
    .join(' ')
}

/**
 * Removes the secrets given to a server from its text, which may reach a model. Where text was truncated it
 * has `…`: a secret of which only the beginning is left before that is removed too.
 */
export function hideSecrets(text: string, target: ServerTarget): string {
  return hideInCut(text, collectSecrets(target))
}

/** Removes the given secrets, sorted longest first, from a text that has `…` where it was truncated. */
export function hideInCut(text: string, secrets: readonly string[]): string {
  const whole = hideSecretsIn(text, secrets)
  const parts = whole.split('…')
  return parts.map((part, i) => (i < parts.length - 1 ? hideBeginning(part, secrets) : part)).join('…')
}

/** Removes the beginning of a secret from the end of a text. */
function hideBeginning(text: string, secrets: readonly string[]): string {
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, text.length); length >= MIN_BEGINNING; length--) {
      if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + REDACTED
    }
  }
  return text
}

/** Quotes a word as a shell needs it, but for the brackets of REDACTED and for `=`. */
function quote(word: string): string {
  return /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

const MIN_BEGINNING = 4
