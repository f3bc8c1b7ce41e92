import type { ProgramResult, ToolOptions } from '../../core/process/run-tool.ts'

/** The sources from which the key of a vault can come. */
export const KEY_SOURCES = ['environment', 'helper', 'keychain', 'file'] as const

/** The source of a vault's key. */
export type KeySource = (typeof KEY_SOURCES)[number]

/** The parts of a home and of this process that a vault needs. */
export interface VaultHome {
  paths: { readonly vault: string; readonly vaultChanged: string; readonly vaultKeys: string }
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  /** Waits for a right that is exclusive among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Runs a program, as runTool() does: key helpers and the keychains of operating systems. */
  run(argv: readonly [string, ...string[]], options: ToolOptions, signal: AbortSignal): Promise<ProgramResult>
  /** Milliseconds since 1970. */
  now(): number
  /**
   * Whether changes are not announced to other processes. Set where no user made them: servers that wait for a
   * credential would otherwise be started again after each refresh of any login.
   */
  isQuiet?: boolean
}

/** A credential of a vault, without its value. */
export interface VaultItem {
  name: string
  /** The time of its last change, ISO 8601. */
  updated: string
}

/**
 * The credentials of a home, encrypted in one file. Every method throws `credentials` when there is no key or
 * the key does not fit, and `storage` when the file is damaged or cannot be read or written.
 */
export interface Vault {
  get(name: string): Promise<string | undefined>
  /** Stores all values in one write. Throws `usage` for a name that is not valid. */
  set(values: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>
  /**
   * Stores all values in one write, and returns the names that are new. Throws `conflict`, and stores none, when
   * one of the names has another value.
   */
  add(values: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string[]>
  /** Returns whether there was such a credential. */
  remove(name: string, signal: AbortSignal): Promise<boolean>
  /** Lists all credentials, sorted by name. */
  list(): Promise<VaultItem[]>
}
