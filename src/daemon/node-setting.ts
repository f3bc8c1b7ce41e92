import { isDeepStrictEqual } from 'node:util'
import { orCancelled } from '../core/base/cancelled.ts'
import { toCrabError } from '../core/base/errors.ts'
import { stampOf } from '../core/base/file-stamp.ts'
import { type Once, once } from '../core/base/once.ts'
import type { Config } from '../core/config/config.ts'
import { loadConfig } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { openModels } from '../core/provider/discover.ts'
import type { ModelRegistry } from '../core/provider/registry.ts'
import type { Setting } from '../core/runtime/runtime-options.ts'

export interface NodeSettingOptions {
  paths: HomePaths
  env: Readonly<Record<string, string | undefined>>
  /** Aborted with the node. */
  over: AbortSignal
  /** It serves more than one command: what was not there when it looked may come. */
  lasts: boolean
}

/** A part of config.toml as people call it. */
export type ConfigPart = 'models' | '[permissions]' | '[env]' | '[skills]' | '[daemon]'

/** What config.toml says now, ready to be used. */
export interface Prepared {
  config: Config
  models: ModelRegistry
  /** The parts that differ from what holds; all that has a value where nothing was read before. */
  changed: readonly ConfigPart[]
  /** The setting it was compared with. */
  revision: number
  /** Of the file. */
  stamp: string | undefined
}

/** Why a setting may not be what would be read now: the file is another one, or there is no model of anybody's yet. */
export type Staleness = 'changed' | 'makeshift'

/** What config.toml says and the models that come of it: read when first asked for, and again by prepare() and use(). */
export class NodeSetting {
  readonly #options: NodeSettingOptions
  #config: Once<Config>
  #models: Once<ModelRegistry>
  #current: Setting | undefined
  #revision = 0
  /** Of the file that was read last, whether it could be used or not. */
  #stamp: string | undefined
  /** Why the file as it is now does not hold. */
  #problem: string | undefined

  constructor(options: NodeSettingOptions) {
    this.#options = options
    this.#config = once(async () => {
      this.#stamp = await this.#look()
      return await loadConfig(options.paths)
    })
    this.#models = once(async () => {
      const config = await this.#config.get()
      const { env, over } = options
      const models = await openModels({ config, env }, over).catch(async (reason) => {
        const { withKeptKeys } = await import('./kept-keys.ts')
        throw await withKeptKeys(reason, config, options)
      })
      this.#current ??= { provider: models, rules: config.permissions }
      return models
    })
  }

  /** Fails with `config`. */
  config(): Promise<Config> {
    return this.#config.get()
  }

  /** Fails as openModels(). */
  models(signal: AbortSignal): Promise<ModelRegistry> {
    return orCancelled(this.#models.get(), signal)
  }

  /** For turns; `models` must have been awaited once. */
  get current(): Setting {
    if (!this.#current) throw new Error('the setting is used before it was read')
    const problem = this.#problem
    return problem === undefined ? this.#current : { ...this.#current, warning: problem }
  }

  /** Why what was read may not be what would be read now; nothing as long as nothing was. Never fails. */
  async staleness(): Promise<Staleness | undefined> {
    const [config, models] = await this.#read()
    if (!config || !models) return undefined
    if ((await this.#look()) !== this.#stamp) return 'changed'
    return this.#options.lasts && isMakeshift(config, models) ? 'makeshift' : undefined
  }

  /** Makes a model the default, once config.toml says so: a reload finds nothing new in it. Fails as ModelRegistry.use(). */
  async choose(model: string, signal: AbortSignal): Promise<void> {
    const models = await this.models(signal)
    models.use(model)
    this.#revision++
    const config = { ...(await this.#config.get()), defaultModel: model }
    this.#config = made(config)
  }

  /**
   * Reads config.toml again and opens what it declares, beside what is in use. Fails as loadConfig() and openModels(): then
   * turns say so, until that file is another one.
   */
  async prepare(signal: AbortSignal): Promise<Prepared> {
    const stamp = await this.#look()
    const revision = this.#revision
    try {
      const config = await loadConfig(this.#options.paths)
      return { ...(await this.#open(config, signal)), revision, stamp }
    } catch (reason) {
      if (signal.aborted) throw reason
      const { kind, message } = toCrabError(reason)
      if (kind === 'config') this.#stamp = stamp
      this.#problem = `${message}; what config.toml said before holds on`
      throw reason
    }
  }

  /**
   * What was prepared holds from now on; turns under way keep what they began with. False, and nothing done, when
   * something else has changed since it was prepared.
   */
  use({ config, models, revision, stamp }: Prepared): boolean {
    if (revision !== this.#revision) return false
    this.#revision++
    this.#stamp = stamp
    this.#problem = undefined
    this.#config = made(config)
    this.#models = made(models)
    this.#current = { provider: models, rules: config.permissions }
    return true
  }

  async #open(config: Config, signal: AbortSignal): Promise<Pick<Prepared, 'config' | 'models' | 'changed'>> {
    const [before, models] = await this.#read()
    const changed = changedParts(before, config)
    if (models && !changed.includes('models') && isSettled(config, models)) return { config, models, changed }
    const { env, over } = this.#options
    const until = AbortSignal.any([signal, over])
    const opened = await openModels({ config, env }, until)
    until.throwIfAborted() // or a server that was not waited for would be one that has no model
    return { config, models: opened, changed }
  }

  /** The stamp of the file; what keeps it from being looked at reading it says. */
  #look(): Promise<string | undefined> {
    return stampOf(this.#options.paths.config).catch(() => undefined)
  }

  /** What was read, where it was. */
  async #read(): Promise<[Config | undefined, ModelRegistry | undefined]> {
    const config = this.#config.made?.catch(() => undefined) // whoever asked for them was told
    const models = this.#models.made?.catch(() => undefined)
    return [await config, await models]
  }
}

/** A value that is there already. */
function made<T>(value: T): Once<T> {
  const there = Promise.resolve(value)
  return { get: () => there, made: there }
}

function changedParts(before: Config | undefined, after: Config): ConfigPart[] {
  const parts: readonly [ConfigPart, (config: Config) => unknown][] = [
    ['models', ({ providers, defaultModel }) => ({ providers: providers.map(withoutPlace), defaultModel })],
    [
      '[permissions]',
      ({ permissions }) => permissions.map(({ effect, pattern, for: only }) => [effect, pattern, only]),
    ],
    ['[env]', ({ env }) => env],
    ['[skills]', ({ skillDirs }) => skillDirs],
    ['[daemon]', ({ daemon }) => daemon],
  ]
  return parts.filter(([, of]) => !before || !isDeepStrictEqual(of(before), of(after))).map(([part]) => part)
}

/** A provider that only stands on another line is the same. */
function withoutPlace({ where: _, ...provider }: Config['providers'][number]): object {
  return provider
}

/** Models that were found by looking around, and a default that nobody could tell, may be others by now. */
function isSettled({ providers }: Config, models: ModelRegistry): boolean {
  return providers.length > 0 && defaultOf(models) !== undefined
}

/** There is no model of anybody's yet. */
function isMakeshift({ providers }: Config, models: ModelRegistry): boolean {
  const model = defaultOf(models)
  return model === undefined || (providers.length === 0 && model === 'demo')
}

function defaultOf(models: ModelRegistry): string | undefined {
  try {
    return models.defaultModel()
  } catch {
    return undefined // turns fail with why
  }
}
