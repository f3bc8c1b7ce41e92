import { hideSecretsIn, REDACTED, redactWords } from '../../core/base/secrets/redact.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { collectSecrets } from './target-secrets.ts'

/** A target as people may see it: its command line or address, without what looks like a secret. */
export function showTarget(target: ServerTarget): string {
  if (target.transport !== 'stdio') {
    return redactWords([target.url.replace(/\?.*$/s, '?…')]).join('')
  }
  return redactWords([target.command, ...target.args])
    .map(quote)
    .join(' ')
}

/**
 * A server's words without the secrets that were given to it: they may reach a model. What was cut has `…` where it was:
 * a secret that only begins there is hidden too.
 */
export function hideSecrets(text: string, target: ServerTarget): string {
  return hideInCut(text, collectSecrets(target))
}

/** A text without some secrets, longest first; what was cut has `…` where it was. */
export function hideInCut(text: string, secrets: readonly string[]): string {
  const whole = hideSecretsIn(text, secrets)
  const parts = whole.split('…')
  return parts.map((part, i) => (i < parts.length - 1 ? hideBeginning(part, secrets) : part)).join('…')
}

/** The text without the beginning of a secret at its end. */
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
