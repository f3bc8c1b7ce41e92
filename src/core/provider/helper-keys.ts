import { abortable } from '../base/abortable.ts'
import { findOwnHelper, OWN_NAME } from '../base/own-helpers.ts'

/** The dependencies of helper keys. */
export interface HelperKeysOptions {
  /** Runs a key helper and returns the key. Throws `credentials`, saying in lower case what happened. */
  run(argv: readonly string[]): Promise<string>
  /** Returns a stamp that changes when the user has changed stored keys. */
  stamp(): string
}

/**
 * The keys that programs print (`key_helper` in config.toml). A helper runs when its key is needed first, and again after
 * the key was refused or the stamp has changed.
 */
export class HelperKeys {
  readonly #options: HelperKeysOptions
  readonly #keys = new Map<string, { key: Promise<string>; stamp: string }>()

  constructor(options: HelperKeysOptions) {
    this.#options = options
  }

  /** Returns the key of a helper, another one than `refused` if there is one. Throws as `run` does. */
  async find(argv: readonly string[], refused: string | undefined, signal: AbortSignal): Promise<string> {
    const id = JSON.stringify(argv)
    const stamp = this.#options.stamp()
    const known = this.#keys.get(id)
    if (known?.stamp === stamp) {
      if (refused === undefined || (await abortable(known.key, signal)) !== refused)
        return await abortable(known.key, signal)
      const latest = this.#keys.get(id)
      if (latest && latest !== known) return await abortable(latest.key, signal) // another call was refused, too
    }
    return await abortable(this.#run(id, argv, stamp), signal)
  }

  #run(id: string, argv: readonly string[], stamp: string): Promise<string> {
    const entry = { key: this.#options.run(argv), stamp }
    this.#keys.set(id, entry)
    entry.key.catch(() => this.#keys.get(id) === entry && this.#keys.delete(id)) // the next call tries again
    return entry.key
  }
}

/** Returns the helper that prints the key of a provider from the vault. */
export function toVaultHelper(provider: string): readonly string[] {
  return [OWN_NAME, 'vault', 'key', provider]
}

/** Returns the provider whose key a helper prints from the vault; undefined for any other helper. */
export function findVaultProvider(argv: readonly string[]): string | undefined {
  return findOwnHelper(argv) === 'vault key' && argv.length === 4 ? argv[3] : undefined
}

/** Returns the words for the source of a helper's key: `the vault`, or the name of the program. */
export function describeKeyHelper(argv: readonly string[]): string {
  return findVaultProvider(argv) === undefined ? `key_helper ${argv[0]}` : 'the vault'
}
