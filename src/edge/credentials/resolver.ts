import { lazy } from '../../core/base/lazy.ts'
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
 * as none. The vault is opened and the file is read when they are first needed. The file is not read again; the
 * vault reads each credential when it is asked for.
 */
export function newCredentialResolver({ vault, dotEnv, env, ask }: CredentialSources): CredentialResolver {
  const opened = lazy(vault)
  const file = lazy(async () => (await readTextFile(dotEnv)) ?? '')
  return {
    async find(name) {
      const stored = await (await opened.get())?.get(name)
      if (stored) return { name, value: stored, source: { kind: 'vault' } }
      const text = await file.get()
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
