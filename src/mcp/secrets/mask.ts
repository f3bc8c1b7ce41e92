import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import { hideSecretsIn, REDACTED, redactWords } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import type { ServerTarget } from '../fingerprint.ts'
import type { ToolList } from '../tools/remote-tool.ts'
import type { ServerAbout } from '../tools/server-about.ts'
import { hideInCut, hideSecrets, showTarget } from './shown-target.ts'
import { collectSecrets } from './target-secrets.ts'

/**
 * Collects the values given to a server that are certainly secret, longest first: those to mask in its
 * answers.
 *
 * Paths, and values that also appear in its command line or in its public values, are excluded: a password
 * that is also the name of a table must not be masked in every answer.
 */
export function collectSureSecrets(target: ServerTarget): string[] {
  const declared = Object.entries(target.transport === 'stdio' ? target.env : target.headers)
  const publicValues = declared.filter(([name]) => !isSecretName(name)).map(([, value]) => value)
  const visible = [showTarget(target), ...redactWords(publicValues)].join('\n')
  const secrets = collectSecrets(target, (name, value) => isSecretName(name) && !isPath(name, value))
  return secrets.filter((secret) => !visible.includes(secret) && !secret.includes(REDACTED))
}

/**
 * Masks secrets in the texts of an answer, modifying it in place; it may be nested arbitrarily deep. Secrets
 * shorter than 8 characters and the data of images, audio and files are left alone.
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
        const masked = hideSecretsIn(value, hidden)
        if (masked !== value) table[key] = masked
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

/**
 * Converts a failure of a server to a CrabError without the secrets of its target and those a helper
 * supplied.
 */
export function maskError(
  reason: unknown,
  target: ServerTarget,
  helperSecrets: readonly string[] = [],
): CrabError {
  const { kind, message, hint, retryAfterMs } = toCrabError(reason)
  const { text: masked } = maskAnswer({ text: hideSecrets(message, target) }, helperSecrets)
  const cause = masked === message ? { cause: reason } : {} // --debug prints causes
  return new CrabError(kind, masked, {
    ...cause,
    ...(hint && { hint }),
    ...(retryAfterMs && { retryAfterMs }),
  })
}

/** The description of a server and its tools, in the server's own words. */
export interface ServerOffer {
  list: ToolList
  about: ServerAbout
}

/** Masks secrets in what a server says of itself: some include their command line or configuration. */
export function maskOffer({ list, about }: ServerOffer, values: readonly string[]): ServerOffer {
  if (values.length === 0) return { list, about }
  const secrets = [...new Set(values)].toSorted((a, b) => b.length - a.length) // one may be a prefix of another
  const tools = list.tools.map(({ name, description, inputSchema }) => ({
    name,
    description: hideInCut(description, secrets),
    inputSchema: maskAnswer(inputSchema, secrets),
  }))
  const words = {
    title: hideInCut(about.title, secrets),
    description: hideInCut(about.description, secrets),
    instructions: hideInCut(about.instructions, secrets),
  }
  return { list: { ...list, tools }, about: { ...about, ...words } }
}
