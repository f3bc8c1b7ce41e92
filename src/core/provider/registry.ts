import { CrabError, toCrabError } from '../base/errors.ts'
import type { Usage } from '../base/message.ts'
import { didYouMean } from '../base/nearest.ts'
import { costUsd, knownFacts } from './facts.ts'
import type { ReportedModel } from './list-models.ts'
import type { ModelSource } from './source.ts'
import type { ModelEntry, ModelEvent, ModelFacts, ModelRequest, Provider } from './types.ts'

/**
 * All callable models by name; a declared name belongs to exactly one source.
 *
 * `source/name` addresses a model of one source. An undeclared name goes to an open source: the one whose
 * name pattern matches, otherwise the first.
 */
export class ModelRegistry implements Provider {
  readonly #sources = new Map<string, ModelSource>()
  readonly #hint: string | undefined
  #active: string | undefined
  #defaultError: CrabError | undefined

  /** `hint` tells a user whose model was not found how to connect one. */
  constructor({ hint }: { hint?: string | undefined } = {}) {
    this.#hint = hint
  }

  /** Adds a source with its models. Throws `config` when a name is taken. */
  add(source: ModelSource): void {
    if (this.#sources.has(source.name)) {
      const { where } = this.#sources.get(source.name)!
      throw new CrabError(
        'config',
        `Cannot add provider "${source.name}" (${source.where}): ${where} already declares it`,
      )
    }
    const names = new Set<string>()
    for (const { name } of source.models) {
      const owner = names.has(name) ? source : this.#declaring(name)
      if (owner) throw duplicateError(name, owner, source)
      names.add(name)
    }
    this.#sources.set(source.name, source)
  }

  /** Removes a source; running calls finish. Clears the default if it was a model of this source. */
  remove(name: string): void {
    if (this.#active !== undefined && this.#find(this.#active)?.source.name === name) this.#active = undefined
    this.#sources.delete(name)
  }

  /** Makes a model the default. Throws `config` when no source accepts the name. */
  commit(model: string): void {
    this.#resolve(model)
    this.#active = model
  }

  /** The reason why there is no default; undefined when there is one, or when none was chosen. */
  get defaultError(): CrabError | undefined {
    return this.#active === undefined ? this.#defaultError : undefined
  }

  /** Clears the default; defaultModel() throws this reason until commit() sets another one. */
  setDefaultError(reason: CrabError): void {
    this.#active = undefined
    this.#defaultError = reason
  }

  /** Returns the default model, otherwise the first known one. */
  defaultModel(): string {
    const model = this.#active ?? (this.#defaultError ? undefined : this.list()[0]?.name)
    if (model !== undefined) return model
    throw this.#defaultError ?? new CrabError('config', 'Cannot choose a model: none is configured')
  }

  /** Returns every model with a known name, in the order of the sources; open sources accept further names. */
  list(): ModelEntry[] {
    const known = [...this.#sources.values()].flatMap(({ name: provider, models, suggests }) =>
      [...models.map(({ name }) => name), ...(suggests === undefined ? [] : [suggests])].map((name) => ({
        name,
        provider,
      })),
    )
    const active = this.#active === undefined ? undefined : this.#find(this.#active)
    return this.#entries(active ? [...known, { name: this.#active!, provider: active.source.name }] : known)
  }

  /**
   * Returns list() together with the models that the servers of open sources report; servers that fail to
   * report theirs are in `failures`.
   */
  async listAll(signal: AbortSignal): Promise<{ models: ModelEntry[]; failures: CrabError[] }> {
    const open = [...this.#sources.values()].filter(({ isOpen }) => isOpen)
    const listings = await Promise.allSettled(
      open.map(async ({ name: provider, listModels }) =>
        ((await listModels?.(signal)) ?? []).map((listed) => ({ ...listed, provider })),
      ),
    )
    const reported = listings.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    return {
      models: this.#entries([...this.list(), ...reported]),
      failures: listings.flatMap((result) =>
        result.status === 'rejected' ? toCrabError(result.reason) : [],
      ),
    }
  }

  /** Keeps the first entry of each name. */
  #entries(found: readonly (ReportedModel & { provider: string })[]): ModelEntry[] {
    const entries = new Map<string, ModelEntry>()
    for (const { name, provider, context } of found) {
      const before = entries.get(name)
      if (before) {
        if (before.provider === provider && context !== undefined) before.facts = this.#facts(name, context)
        continue
      }
      const { foundProgram } = this.#sources.get(provider) ?? {}
      const entry = { name, provider, active: name === this.#active, facts: this.#facts(name, context) }
      entries.set(name, { ...entry, ...(foundProgram !== undefined && { foundProgram }) })
    }
    return [...entries.values()]
  }

  /** Returns the source of a model, with its checks and its listing. Throws `config` when there is none. */
  getSource(model: string): Pick<ModelSource, 'name' | 'where' | 'isOpen' | 'check' | 'listModels'> {
    return this.#resolve(model).source
  }

  /** Returns the provider that a name means, and the provider's own name of the model. Throws `config`. */
  locate(name: string): { provider: string; model: string } {
    const { source, model } = this.#resolve(name)
    return { provider: source.name, model }
  }

  prepare(model: string): void {
    this.#resolve(model).source.prepare?.()
  }

  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const { source, model } = this.#resolve(request.model)
    return source.complete({ ...request, model }, signal)
  }

  facts(model: string): ModelFacts {
    return this.#facts(model)
  }

  /** Returns the facts of a model whose server reports this context window. */
  #facts(model: string, reported?: number): ModelFacts {
    const found = this.#find(model)
    const declared = found?.source.models.find(({ name }) => name === found.model)
    const { contexts = {} } = found?.source ?? {}
    const stored = found && Object.hasOwn(contexts, found.model) ? contexts[found.model] : undefined
    const context = stored ?? reported
    return { ...knownFacts(model), ...(context !== undefined && { context }), ...declared?.facts }
  }

  costUsd(model: string, usage: Usage): number | undefined {
    return costUsd(usage, this.facts(model))
  }

  #resolve(name: string): { source: ModelSource; model: string } {
    const found = this.#find(name)
    if (found) return found
    const names = this.list().map((entry) => entry.name)
    const known = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), '…'] : names
    const hint = didYouMean(name, names) ?? this.#hint
    throw new CrabError(
      'config',
      `Cannot find model "${name}": ${known.length > 0 ? `it is not one of ${known.join(', ')}` : 'none is configured'}`,
      {
        ...(hint !== undefined && { hint }),
      },
    )
  }

  #find(name: string): { source: ModelSource; model: string } | undefined {
    const declaring = this.#declaring(name)
    if (declaring) return { source: declaring, model: name }
    const slash = name.indexOf('/')
    const addressed = slash > 0 ? this.#sources.get(name.slice(0, slash)) : undefined
    const rest = name.slice(slash + 1)
    if (addressed && (addressed.isOpen || declares(addressed, rest)))
      return { source: addressed, model: rest }
    const open = [...this.#sources.values()].filter(({ isOpen }) => isOpen)
    const source = open.find(({ owns }) => owns?.test(name)) ?? open[0]
    return source && { source, model: name }
  }

  #declaring(name: string): ModelSource | undefined {
    return [...this.#sources.values()].find((source) => declares(source, name))
  }
}

function declares({ models }: ModelSource, name: string): boolean {
  return models.some((model) => model.name === name)
}

function duplicateError(name: string, owner: ModelSource, source: ModelSource): CrabError {
  return new CrabError(
    'config',
    `Cannot add model "${name}" of provider "${source.name}" (${source.where}): "${owner.name}" (${owner.where}) already has it`,
    { hint: 'remove it from one of them' },
  )
}

const MAX_NAMED = 12
