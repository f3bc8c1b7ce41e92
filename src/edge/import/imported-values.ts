import { findSecrets, REDACTED } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import { isUnfilled } from '../../core/base/secrets/unfilled.ts'
import { listTemplateNames, renameCredentials } from '../../core/base/secrets/vault-words.ts'
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

/** A value that an entry may contain, or the text that its helper prints, with credentials as `${NAME}`. */
export type ImportedValue = { literal: string } | { template: string }

/** Converts the values of one server, and collects the secrets that move into the vault. */
export class ImportedValues {
  readonly #sources: ValueSources
  readonly #secrets = new Map<string, string>()
  readonly #missing = new Set<string>()
  readonly #found = new Map<string, CredentialSource>()
  readonly #defaulted = new Set<string>()
  /** The credentials that the variables of the file itself have become. */
  readonly #moved = new Map<string, string>()

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

  /** The credentials that are stored nowhere yet, and for which the entry has a default. */
  get defaulted(): string[] {
    return [...this.#defaulted].filter((name) => !this.#missing.has(name))
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
    const [, prefix = '', rest = expanded] = hasScheme ? (SCHEME.exec(expanded) ?? []) : []
    const isHidden = expanded.includes(REDACTED)
    if (!isHidden && VARIABLE.test(expanded)) return await this.#convertVariables(expanded, { key, wanted })
    if (isHidden || isUnfilled(rest)) return { template: `${prefix}\${${this.#require(wanted)}}` }
    if (!mustMove(key, expanded)) return { literal: expanded }
    return { template: `${prefix}\${${await this.move(wanted, rest)}}` }
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

  /** Expands only the folders of a word, and notes the credentials that its other variables name. */
  async keepWord(text: string): Promise<string> {
    const word = this.expandFolders(text)
    for (const [, name = '', fallback] of word.matchAll(new RegExp(VARIABLE, 'g'))) {
      const found = await this.#find(name)
      if (!found) (fallback === undefined ? this.#missing : this.#defaulted).add(name)
    }
    return word
  }

  /** Replaces the placeholders of folders, which every user has. */
  expandFolders(text: string): string {
    const { folder, homeDir } = this.#sources
    return text
      .replaceAll(/\$\{(?:CRABTALK|CLAUDE)_PROJECT_DIR(?::-[^{}]*)?\}/g, () => folder)
      .replaceAll(/\$\{HOME(?::-[^{}]*)?\}/g, () => homeDir)
  }

  /**
   * Marks a secret for the vault and returns its name there: that of the server and `wanted`, because another
   * server that uses `wanted` must not receive it. When the vault has this value as `wanted`, that is used again.
   */
  async move(wanted: string, value: string): Promise<string> {
    const base = wanted.replaceAll(/[^\w.:/@-]+/g, '_').slice(0, MAX_NAME)
    if (value.includes(REDACTED)) return this.#require(base) // a view of crabtalk, without the value
    for (let n = 0; ; n++) {
      const name = n === 0 ? base : `${this.#sources.server}/${base}${n === 1 ? '' : `-${n}`}`
      const known = this.#secrets.get(name) ?? (await this.#sources.stored(name))
      if (known === undefined ? n === 0 : known !== value) continue
      this.#secrets.set(name, value)
      if (!this.#moved.has(base)) this.#moved.set(base, name)
      return name
    }
  }

  /** Converts a text with variables: to a literal when all are set here, without a default, and none is a secret. */
  async #convertVariables(
    text: string,
    { key, wanted }: { key: string; wanted: string },
  ): Promise<ImportedValue> {
    const isWhole = WHOLE.test(text)
    let isLiteral = true
    const value = await replaceVariables(text, async (name, fallback) => {
      const found = await this.#find(name)
      if (!found || fallback !== undefined || mustMove(name, found.value)) isLiteral = false
      if (isWhole && found?.source.kind === 'vault') isLiteral = false
      return found?.value ?? ''
    })
    if (isLiteral && !(isWhole ? isSecretName(key) : mustMove(key, value))) return { literal: value }
    return { template: await this.#toTemplate(text, { key, wanted }) }
  }

  /** Converts a text with variables to one of a vault helper. Secrets in its words and defaults move. */
  async #toTemplate(text: string, { key, wanted }: { key: string; wanted: string }): Promise<string> {
    const word = `${key}=${text}`
    const spans = findSecrets(['crabtalk', 'vault', 'env', word])[3] ?? []
    let [template, end] = ['', key.length + 1]
    for (const [from, to] of spans) {
      template += `${word.slice(end, from)}\${${await this.move(wanted, word.slice(from, to))}}`
      end = to
    }
    template += word.slice(end)
    const names = new Map<string, string>()
    for (const { name, fallback } of listTemplateNames(template)) {
      const found = await this.#find(name)
      if (found) names.set(name, found.name)
      else if (!this.#secrets.has(name)) (fallback === undefined ? this.#missing : this.#defaulted).add(name)
    }
    return renameCredentials(template, (name) => names.get(name) ?? name)
  }

  /** Finds a variable; values of the file itself that are about to move are found too. */
  async #find(name: string): Promise<Credential | undefined> {
    const moved = this.#moved.get(name)
    if (moved !== undefined)
      return { name: moved, value: this.#secrets.get(moved) ?? '', source: { kind: 'vault' } }
    const found = await this.#sources.find(name)
    if (found) this.#found.set(name, found.source)
    return found
  }

  #require(name: string): string {
    this.#missing.add(name)
    return name
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
const WHOLE = /^(?:[A-Za-z][\w-]* +)?\$\{[A-Za-z_]\w*(?::-[^{}]*)?\}$/
const SCHEME = /^([A-Za-z][\w-]* ) *(\S+)$/
/** Values that are not secrets, whatever their names: switches, small numbers and paths of files. */
const HARMLESS = /^(?:|true|false|yes|no|on|off|none|\d{1,4}|(?:~|[a-z]:)?[/\\][\w.~ /\\-]*\.\w{1,8})$/i
const MAX_NAME = 150
