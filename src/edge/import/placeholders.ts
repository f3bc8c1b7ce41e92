import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/** A value that an editor asks the user for (`inputs` of VS Code). */
export interface InputDescription {
  id: string
  description: string
}

/** A variable that a placeholder names. */
export interface NamedVariable {
  name: string
  /** The words with which the other program asks for it. */
  label?: string
}

/** Reads the `inputs` beside the servers, at any of the levels where VS Code allows them. */
export function readInputs(root: unknown): InputDescription[] {
  const holders = isObject(root) ? [root, root['mcp']] : []
  return holders.flatMap((holder) => {
    const inputs = isObject(holder) ? holder['inputs'] : undefined
    return (Array.isArray(inputs) ? inputs : []).flatMap((one: unknown) => {
      if (!isObject(one) || typeof one['id'] !== 'string') return []
      return [
        { id: one['id'], description: typeof one['description'] === 'string' ? one['description'] : '' },
      ]
    })
  })
}

/** Converts the placeholders in the texts of one entry to `${NAME}`, and collects their variables. */
export class Placeholders {
  readonly #inputs: readonly InputDescription[]
  readonly #variables = new Map<string, NamedVariable>()
  readonly #unknown = new Set<string>()

  constructor(inputs: readonly InputDescription[]) {
    this.#inputs = inputs
  }

  get variables(): NamedVariable[] {
    return [...this.#variables.values()]
  }

  /** The placeholders whose meaning only the other program knows. */
  get unknown(): string[] {
    return [...this.#unknown]
  }

  /**
   * Converts the placeholders of a text. `variable` is the environment variable that has the text as its
   * value, after which an input without a name of its own is called.
   */
  convert(text: string, variable?: string): string {
    const whole = /^\$([A-Z_][A-Z\d_]*)$/.exec(text)?.[1]
    const converted =
      whole === undefined
        ? text.replaceAll(PLACEHOLDER, (match, ...groups) => {
            const named = groups.at(-1) as Record<'kind' | 'id' | 'braced' | 'bare', string | undefined>
            return this.#convertOne(match, named, text === match ? variable : undefined)
          })
        : `\${${whole}}`
    for (const [, name = ''] of converted.matchAll(VARIABLE)) this.#note(name)
    return converted
  }

  #convertOne(
    match: string,
    { kind, id = '', braced, bare }: Record<'kind' | 'id' | 'braced' | 'bare', string | undefined>,
    variable: string | undefined,
  ): string {
    if (braced !== undefined) return `\${${braced}}`
    if (bare !== undefined) return FOLDERS.get(bare) ?? match
    if (kind === 'env') return `\${${id}}`
    if (kind === 'input') return `\${${this.#nameInput(id, variable)}}`
    this.#unknown.add(match)
    return match
  }

  #nameInput(id: string, variable: string | undefined): string {
    const name =
      variable ??
      id
        .toUpperCase()
        .replaceAll(/\W+/g, '_')
        .replace(/^(?=\d)/, '_')
    const label = this.#inputs.find((one) => one.id === id)?.description
    this.#note(name, label)
    return name
  }

  #note(name: string, label?: string): void {
    if (OWN.has(name) || (label === undefined && this.#variables.has(name))) return
    this.#variables.set(name, { name, ...(label && { label }) })
  }
}

/** Converts the placeholders of all texts in an object of texts. */
export function convertTexts(
  table: JsonObject,
  placeholders: Placeholders,
  isEnvironment = false,
): JsonObject {
  const pairs = Object.entries(table).map(([key, value]): [string, unknown] => [
    key,
    typeof value === 'string' ? placeholders.convert(value, isEnvironment ? key : undefined) : value,
  ])
  return Object.fromEntries(pairs)
}

/** `${env:NAME}` and `${input:id}`, `{env:NAME}` and `{file:path}` of opencode, `${workspaceFolder}`. */
const PLACEHOLDER =
  /\$\{(?:(?<kind>[A-Za-z]{1,16}):(?!-)(?<id>[\w.:/-]{1,80})|(?<bare>[a-z][A-Za-z]{1,40}|\/))\}|(?<!\$)\{env:(?<braced>\w{1,80})\}/g
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-[^{}]*)?\}/g
const FOLDERS: ReadonlyMap<string, string> = new Map([
  ['workspaceFolder', `\${CRABTALK_PROJECT_DIR}`],
  ['workspaceRoot', `\${CRABTALK_PROJECT_DIR}`],
  ['cwd', `\${CRABTALK_PROJECT_DIR}`],
  ['userHome', `\${HOME}`],
  ['pathSeparator', '/'],
  ['/', '/'],
])
/** The variables that this program sets itself, or that every user has. */
const OWN = new Set(['CRABTALK_PROJECT_DIR', 'CLAUDE_PROJECT_DIR', 'HOME'])
