import type { CrabError } from '../../core/base/errors.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { collectSureSecrets, maskError } from './mask.ts'
import { hideSecrets } from './shown-target.ts'

/** The secrets of a server: those that its declaration has, and those that its env helper has supplied so far. */
export class ServerSecrets {
  /** The targets with the variables of each start, the latest first. */
  #targets: readonly ServerTarget[]
  #sure: readonly string[]

  constructor(target: ServerTarget) {
    this.#targets = [target]
    this.#sure = collectSureSecrets(target)
  }

  /** Adds the target with the variables that a helper supplied for a start. */
  add(target: ServerTarget): void {
    this.#targets = [target, ...this.#targets].slice(0, MAX_TARGETS)
    this.#sure = [...new Set(this.#targets.flatMap((one) => collectSureSecrets(one)))].toSorted(
      (a, b) => b.length - a.length,
    )
  }

  /** Whether the latest start had these variables. */
  hasEnv(variables: Readonly<Record<string, string>>): boolean {
    const latest = this.#targets[0]
    return (
      latest?.transport === 'stdio' &&
      Object.entries(variables).every(([name, value]) => latest.env[name] === value)
    )
  }

  /** The values that are certainly secret, longest first; see collectSureSecrets(). */
  get sure(): readonly string[] {
    return this.#sure
  }

  /** Removes them from a line, as hideSecrets() does. */
  hide(line: string): string {
    return this.#targets.reduce(hideSecrets, line)
  }

  /** Converts a failure as maskError() does, without any of them. */
  maskError(reason: unknown, helperSecrets: readonly string[] = []): CrabError {
    return this.#targets.reduce<unknown>(
      (error, target) => maskError(error, target, helperSecrets),
      reason,
    ) as CrabError
  }
}

/** A token that is replaced more often than this no longer appears in the last lines of a log. */
const MAX_TARGETS = 8
