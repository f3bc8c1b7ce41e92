import { CrabError, toCrabError } from '../base/errors.ts'
import type { Usage } from '../base/message.ts'
import { didYouMean } from '../base/nearest.ts'
import { costUsd, knownFacts } from './facts.ts'
import type { ModelSource } from './source.ts'
import type { ModelEntry, ModelEvent, ModelFacts, ModelRequest, Provider } from './types.ts'

/**
 * All models that can be called, by name (RFC 0027): a name belongs to one source only.
 *
 * `source/name` addresses a model of one source. A name nobody declares goes to an open source: the one whose names
 * look like it, else the first.
 */
export class ModelRegistry implements Provider {
  readonly #sources = new Map<string, ModelSource>()
  readonly #hint: string | undefined
  #active: string | undefined
  #lack: CrabError | undefined

  /** `hint` tells a person whose model is not there how to get one. */
  constructor({ hint }: { hint?: string | undefined } = {}) {
    this.#hint = hint
  }

  /** Adds a source with its models. Fails with `config` on a name taken. */
  add(source: ModelSource): void {
    if (this.#sources.has(source.name)) {
      const { where } = this.#sources.get(source.name)!
      throw new CrabError(
        'config',
        `Cannot add provider "${source.name}" (${source.where}): ${where} declares it already`,
      )
    }
    const names = new Set<string>()
    for (const { name } of source.models) {
      const owner = names.has(name) ? source : this.#declaring(name)
      if (owner) throw duplicate(name, owner, source)
      names.add(name)
    }
    this.#sources.set(source.name, source)
  }

  /** Removes a source; calls under way finish. A default that was its model is none any more. */
  remove(name: string): void {
    if (this.#active !== undefined && this.#find(this.#active)?.source.name === name) this.#active = undefined
    this.#sources.delete(name)
  }

  /** Makes a model the default. Fails with `config` when no source takes that name. */
  commit(model: string): void {
    this.#resolve(model)
    this.#active = model
  }

  /** There is no default, for this reason, which defaultModel() throws until commit() names one. */
  setDefaultError(reason: CrabError): void {
    this.#active = undefined
    this.#lack = reason
  }

  /** The default, else the first known model. */
  defaultModel(): string {
    const model = this.#active ?? (this.#lack ? undefined : this.list()[0]?.name)
    if (model !== undefined) return model
    throw this.#lack ?? new CrabError('config', 'Cannot choose a model: none is configured')
  }

  /** Every model whose name is known, in the order of the sources; open ones take more. */
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

  /** As list(), with what the servers of open sources say they have; those that cannot say are told in `failures`. */
  async listAll(signal: AbortSignal): Promise<{ models: ModelEntry[]; failures: CrabError[] }> {
    const open = [...this.#sources.values()].filter(({ isOpen }) => isOpen)
    const asked = await Promise.allSettled(
      open.map(async ({ name: provider, listModels }) =>
        ((await listModels?.(signal)) ?? []).map((name) => ({ name, provider })),
      ),
    )
    const told = asked.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    return {
      models: this.#entries([...this.list(), ...told]),
      failures: asked.flatMap((result) => (result.status === 'rejected' ? toCrabError(result.reason) : [])),
    }
  }

  /** The first of each name. */
  #entries(found: readonly { name: string; provider: string }[]): ModelEntry[] {
    const entries = new Map<string, ModelEntry>()
    for (const { name, provider } of found) {
      if (entries.has(name)) continue
      entries.set(name, { name, provider, active: name === this.#active, facts: this.facts(name) })
    }
    return [...entries.values()]
  }

  /** Who is called for a model, whether that can be done, and how to ask there what there is. Throws `config` when nobody is. */
  getSource(model: string): Pick<ModelSource, 'name' | 'where' | 'isOpen' | 'check' | 'listModels'> {
    return this.#resolve(model).source
  }

  prepare(model: string): void {
    this.#resolve(model).source.prepare?.()
  }

  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const { source, model } = this.#resolve(request.model)
    return source.complete({ ...request, model }, signal)
  }

  facts(model: string): ModelFacts {
    const found = this.#find(model)
    const declared = found?.source.models.find(({ name }) => name === found.model)
    return { ...knownFacts(model), ...declared?.facts }
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
    throw new CrabError('config', `Cannot find model "${name}": there is ${known.join(', ') || 'none'}`, {
      ...(hint !== undefined && { hint }),
    })
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

function duplicate(name: string, owner: ModelSource, source: ModelSource): CrabError {
  return new CrabError(
    'config',
    `Cannot add model "${name}" of provider "${source.name}" (${source.where}): "${owner.name}" (${owner.where}) has it already`,
    { hint: 'remove it from one of them' },
  )
}

const MAX_NAMED = 12
