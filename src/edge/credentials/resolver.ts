import { readStamp } from '../../core/base/file-stamp.ts'
import { parseVariables, variableLine } from '../../core/config/env-file-text.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import type { Vault } from '../vault/types.ts'
import type { CredentialResolver, CredentialSource } from './types.ts'

/** The sources of credentials, in the order in which they are asked. */
export interface CredentialSources {
  /** Opens the vault; undefined when there is none. */
  vault(): Promise<Vault | undefined>
  /** The `.env` of the home, read as `node --env-file` does; it may be missing. */
  dotEnv: string
  env: Readonly<Record<string, string | undefined>>
  /** Asks the user; undefined for a declined question. Set only when there is a user at a terminal. */
  ask?(name: string): Promise<string | undefined>
}

/**
 * Returns a resolver that asks the vault, `.env`, the environment and the user, in this order. An empty value counts
 * as none. The vault and the file are opened when they are first needed, and read again only after they have changed.
 */
export function newCredentialResolver({ vault, dotEnv, env, ask }: CredentialSources): CredentialResolver {
  const openShared = shareOpen(vault)
  const readFile = rereader(dotEnv)
  return {
    async find(name) {
      const stored = await (await openShared())?.get(name)
      if (stored) return { name, value: stored, source: { kind: 'vault' } }
      const text = await readFile()
      const value = parseVariables(text)[name]
      if (value) {
        return {
          name,
          value,
          source: { kind: 'env-file', path: dotEnv, line: variableLine(text, name) ?? 1 },
        }
      }
      const own = env[name]
      if (own) return { name, value: own, source: { kind: 'environment' } }
      const typed = await ask?.(name)
      return typed ? { name, value: typed, source: { kind: 'prompt' } } : undefined
    },
  }
}

/** Returns a function that opens the vault once for all its callers; without a vault it looks again the next time. */
function shareOpen(open: CredentialSources['vault']): CredentialSources['vault'] {
  let opening: Promise<Vault | undefined> | undefined
  return async () => {
    opening ??= open()
    const mine = opening
    const vault = await mine.catch((reason: unknown) => {
      if (opening === mine) opening = undefined
      throw reason
    })
    if (vault === undefined && opening === mine) opening = undefined
    return vault
  }
}

/** Returns a function that reads a text file, empty when it is missing, and reads it again after it has changed. */
function rereader(path: string): () => Promise<string> {
  let last: { stamp: string | undefined; text: string } | undefined
  return async () => {
    const stamp = await readStamp(path).catch(() => undefined) // readTextFile() says why
    if (last === undefined || stamp === undefined || last.stamp !== stamp)
      last = { stamp, text: (await readTextFile(path)) ?? '' }
    return last.text
  }
}

/** Returns the words for a source: `vault`, `environment`, `typed`, or the file and its line. */
export function describeSource(source: CredentialSource): string {
  switch (source.kind) {
    case 'vault':
      return 'vault'
    case 'env-file':
      return `${source.path}:${source.line}`
    case 'environment':
      return 'environment'
    case 'prompt':
      return 'typed'
  }
}
