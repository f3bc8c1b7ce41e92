import { isObject } from '../../core/base/json.ts'
import { hideSecretsIn, REDACTED, redactWords } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { showTarget } from './shown-target.ts'
import { collectSecrets } from './target-secrets.ts'

/**
 * What was given to a server and is surely secret, longest first: what it answers is no longer right without it.
 *
 * Paths, and what its command line or its other values show as well, are none: a password that is also the
 * name of a table must not be taken out of every answer.
 */
export function collectSureSecrets(target: ServerTarget): string[] {
  const given = Object.entries(target.transport === 'stdio' ? target.env : target.headers)
  const open = given.filter(([name]) => !isSecretName(name)).map(([, value]) => value)
  const seen = [showTarget(target), ...redactWords(open)].join('\n')
  const secrets = collectSecrets(target, (name, value) => isSecretName(name) && !isPath(name, value))
  return secrets.filter((secret) => !seen.includes(secret) && !secret.includes(REDACTED))
}

/**
 * Takes secrets out of the texts of an answer, in place: it is the caller's, and as deep as a server likes. Short ones
 * stay, and so does the data of images, sound and files.
 */
export function maskAnswer<T>(answer: T, secrets: readonly string[]): T {
  const hidden = secrets.filter(({ length }) => length >= MIN_LENGTH)
  if (hidden.length === 0) return answer
  const open: unknown[] = [answer]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== 'object' || part === null) continue
    const table = part as Record<string, unknown>
    for (const [key, value] of Object.entries(table)) {
      if (typeof value === 'object') open.push(value ?? 0)
      else if (typeof value === 'string' && !isData(table, key)) {
        const shown = hideSecretsIn(value, hidden)
        if (shown !== value) table[key] = shown
      }
    }
  }
  return answer
}

function isData(part: unknown, key: string): boolean {
  if (!isObject(part)) return false
  return key === 'blob' || (key === 'data' && (part['type'] === 'image' || part['type'] === 'audio'))
}

function isPath(name: string, value: string): boolean {
  return (
    /(dir|path|file|folder|home|sock|credentials)$/i.test(name) && /^([a-z]:|~|\.{1,2})?[/\\]/i.test(value)
  )
}

const MIN_LENGTH = 8
