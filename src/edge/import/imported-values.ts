import { findSecrets, REDACTED } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import { isUnfilled } from '../../core/base/secrets/unfilled.ts'
import type { Credential, CredentialSource } from '../credentials/types.ts'

/** The facts that turn the placeholders of a server into values. */
export interface ValueSources {
  /** The name of the server, after which credentials without a name of their own are called. */
  server: string
  /** The value of `${CRABTALK_PROJECT_DIR}` and of `${CLAUDE_PROJECT_DIR}`; absolute. */
  folder: string
  homeDir: string
  find(name: string): Promise<Credential | undefined>
  /** Returns the credential of that name in the vault, or among those that are about to be moved there. */
  stored(name: string): Promise<string | undefined>
}

/** A value that an entry may contain, or the credential that its helper prints, behind a literal prefix. */
export type ImportedValue = { literal: string } | { credential: string; prefix: string }

/** Converts the values of one server, and collects the secrets that move into the vault. */
export class ImportedValues {
  readonly #sources: ValueSources
  readonly #secrets = new Map<string, string>()
  readonly #missing = new Set<string>()
  readonly #found = new Map<string, CredentialSource>()

  constructor(sources: ValueSources) {
    this.#sources = sources
  }

  /** The values to store in the vault, by name. */
  get secrets(): Record<string, string> {
    return Object.fromEntries(this.#secrets)
  }

  /** The sources of the credentials that exist already, by name. */
  get found(): ReadonlyMap<string, CredentialSource> {
    return this.#found
  }

  /** The credentials that are stored nowhere yet. */
  get missing(): string[] {
    return [...this.#missing]
  }

  /**
   * Converts a value of the environment or of a header. `key` names it, `wanted` is the name of its credential
   * if it is a secret. A prefix (`Bearer`) is kept apart if `hasScheme`.
   */
  async convert(
    text: string,
    { key, wanted, hasScheme = false }: { key: string; wanted: string; hasScheme?: boolean },
  ): Promise<ImportedValue> {
    const expanded = this.expandFolders(text)
    const [, scheme = '', rest = expanded] = hasScheme ? (SCHEME.exec(expanded) ?? []) : []
    const [, name, fallback] = WHOLE.exec(rest) ?? []
    if (name !== undefined) {
      const value = await this.#convertVariable(name, { key, fallback, wanted })
      if ('literal' in value) return { literal: scheme === '' ? value.literal : `${scheme} ${value.literal}` }
      return { ...value, prefix: scheme }
    }
    if (isUnfilled(rest) || rest.includes(REDACTED)) return { ...this.#require(wanted), prefix: scheme }
    if (VARIABLE.test(expanded)) return await this.#convertMixed(expanded, { key, wanted })
    if (!mustMove(key, expanded)) return { literal: expanded }
    return { credential: await this.move(wanted, rest), prefix: scheme }
  }

  /**
   * Expands the variables of a word that must be literal. Those that are secrets, or not set, stay as
   * `${NAME}`, and are returned.
   */
  async expandWord(text: string): Promise<{ text: string; left: string[] }> {
    const left: string[] = []
    const converted = await replaceVariables(this.expandFolders(text), async (name, fallback) => {
      const found = await this.#find(name)
      if (found && !mustMove(name, found.value)) return found.value
      if (!found && fallback !== undefined) return fallback
      if (!found) this.#missing.add(name)
      left.push(name)
      return `\${${name}}`
    })
    return { text: converted, left }
  }

  /** Replaces the placeholders of folders, which every user has. */
  expandFolders(text: string): string {
    const { folder, homeDir } = this.#sources
    return text
      .replaceAll(/\$\{(?:CRABTALK|CLAUDE)_PROJECT_DIR(?::-[^{}]*)?\}/g, () => folder)
      .replaceAll(/\$\{HOME(?::-[^{}]*)?\}/g, () => homeDir)
  }

  /**
   * Marks a secret for the vault and returns its name there: `wanted`, or one with the name of the server when
   * `wanted` has another value already. A name with the same value is used again.
   */
  async move(wanted: string, value: string): Promise<string> {
    const base = wanted.replaceAll(/[^\w.:/@-]+/g, '_').slice(0, MAX_NAME)
    if (value.includes(REDACTED)) return this.#require(base).credential // a view of crabtalk, without the value
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${this.#sources.server}/${base}${n === 2 ? '' : `-${n - 1}`}`
      const known = this.#secrets.get(name) ?? (await this.#sources.stored(name))
      if (known !== undefined && known !== value) continue
      this.#secrets.set(name, value)
      return name
    }
  }

  async #convertVariable(
    name: string,
    { key, fallback, wanted }: { key: string; fallback: string | undefined; wanted: string },
  ): Promise<ImportedValue> {
    const found = await this.#find(name)
    if (!found && fallback !== undefined && fallback !== '')
      return await this.convert(fallback, { key, wanted })
    if (found && found.source.kind !== 'vault' && !isSecretName(key) && !mustMove(name, found.value))
      return { literal: found.value }
    return found ? { credential: name, prefix: '' } : { ...this.#require(name), prefix: '' }
  }

  /** Puts a value together from text and variables; as a whole it is a secret when one of them is. */
  async #convertMixed(
    text: string,
    { key, wanted }: { key: string; wanted: string },
  ): Promise<ImportedValue> {
    let isComplete = true
    let isSecret = false
    const value = await replaceVariables(text, async (name, fallback) => {
      const found = (await this.#find(name))?.value ?? fallback
      isComplete &&= found !== undefined
      isSecret ||= mustMove(name, found ?? '')
      return found ?? ''
    })
    if (!isComplete) return { ...this.#require(wanted), prefix: '' }
    if (!isSecret && !mustMove(key, value)) return { literal: value }
    return { credential: await this.move(wanted, value), prefix: '' }
  }

  /** Finds a variable; values of the file itself that are about to move are found too. */
  async #find(name: string): Promise<Credential | undefined> {
    const value = this.#secrets.get(name)
    if (value !== undefined) return { name, value, source: { kind: 'vault' } }
    const found = await this.#sources.find(name)
    if (found) this.#found.set(name, found.source)
    return found
  }

  #require(name: string): { credential: string } {
    this.#missing.add(name)
    return { credential: name }
  }
}

/** Whether a value must not be written into an entry, judging by its name and by its shape. */
function mustMove(name: string, value: string): boolean {
  if (HARMLESS.test(value)) return false
  return isSecretName(name) || findSecrets([`${name}=${value}`, value]).some(({ length }) => length > 0)
}

async function replaceVariables(
  text: string,
  toValue: (name: string, fallback: string | undefined) => Promise<string>,
): Promise<string> {
  let replaced = ''
  let end = 0
  for (const { index, 0: all, 1: name = '', 2: fallback } of text.matchAll(new RegExp(VARIABLE, 'g'))) {
    replaced += text.slice(end, index) + (await toValue(name, fallback))
    end = index + all.length
  }
  return replaced + text.slice(end)
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/
const WHOLE = /^\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}$/
const SCHEME = /^([A-Za-z][\w-]*) +(\S+)$/
/** Values that are not secrets, whatever their names: switches, small numbers and paths of files. */
const HARMLESS = /^(?:|true|false|yes|no|on|off|none|\d{1,4}|(?:~|[a-z]:)?[/\\][\w.~ /\\-]*\.\w{1,8})$/i
const MAX_NAME = 150
