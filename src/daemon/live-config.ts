import { isDeepStrictEqual } from 'node:util'
import { abortable } from '../core/base/abortable.ts'
import { toCrabError } from '../core/base/errors.ts'
import { readStamp } from '../core/base/file-stamp.ts'
import { type Lazy, lazy } from '../core/base/lazy.ts'
import type { Config } from '../core/config/config.ts'
import { loadConfig } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { openModels } from '../core/provider/discover.ts'
import type { ModelRegistry } from '../core/provider/registry.ts'
import type { TurnConfig } from '../core/runtime/runtime-options.ts'

export interface LiveConfigOptions {
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
export interface PreparedConfig {
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

/** What config.toml says and the models that come of it: read when first asked for, and again by prepare() and commit(). */
export class LiveConfig {
  readonly #options: LiveConfigOptions
  #config: Lazy<Config>
  #models: Lazy<ModelRegistry>
  #current: TurnConfig | undefined
  #revision = 0
  /** Of the file that was read last, whether it could be used or not. */
  #stamp: string | undefined
  /** Why the file as it is now does not hold. */
  #problem: string | undefined

  constructor(options: LiveConfigOptions) {
    this.#options = options
    this.#config = lazy(async () => {
      this.#stamp = await this.#look()
      return await loadConfig(options.paths)
    })
    this.#models = lazy(async () => {
      const config = await this.#config.get()
      const { env, over } = options
      const models = await openModels({ config, env }, over).catch(async (reason) => {
        const { withMissingKeyHint: withKeptKeys } = await import('./missing-key-hint.ts')
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
    return abortable(this.#models.get(), signal)
  }

  /** For turns; `models` must have been awaited once. */
  get current(): TurnConfig {
    if (!this.#current) throw new Error('the setting is used before it was read')
    const problem = this.#problem
    return problem === undefined ? this.#current : { ...this.#current, warning: problem }
  }

  /** Why what was read may not be what would be read now; nothing as long as nothing was. Never fails. */
  async staleness(): Promise<Staleness | undefined> {
    const [config, models] = await this.#read()
    if (!config || !models) return undefined
    if ((await this.#look()) !== this.#stamp) return 'changed'
    return this.#options.lasts && isProvisional(config, models) ? 'makeshift' : undefined
  }

  /** Makes a model the default, once config.toml says so: a reload finds nothing new in it. Fails as ModelRegistry.use(). */
  async choose(model: string, signal: AbortSignal): Promise<void> {
    const models = await this.models(signal)
    models.commit(model)
    this.#revision++
    const config = { ...(await this.#config.get()), defaultModel: model }
    this.#config = toLazy(config)
  }

  /**
   * Reads config.toml again and opens what it declares, beside what is in use. Fails as loadConfig() and openModels(): then
   * turns say so, until that file is another one.
   */
  async prepare(signal: AbortSignal): Promise<PreparedConfig> {
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
  use({ config, models, revision, stamp }: PreparedConfig): boolean {
    if (revision !== this.#revision) return false
    this.#revision++
    this.#stamp = stamp
    this.#problem = undefined
    this.#config = toLazy(config)
    this.#models = toLazy(models)
    this.#current = { provider: models, rules: config.permissions }
    return true
  }

  async #open(
    config: Config,
    signal: AbortSignal,
  ): Promise<Pick<PreparedConfig, 'config' | 'models' | 'changed'>> {
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
    return readStamp(this.#options.paths.config).catch(() => undefined)
  }

  /** What was read, where it was. */
  async #read(): Promise<[Config | undefined, ModelRegistry | undefined]> {
    const config = this.#config.current?.catch(() => undefined) // whoever asked for them was told
    const models = this.#models.current?.catch(() => undefined)
    return [await config, await models]
  }
}

/** A value that is there already. */
function toLazy<T>(value: T): Lazy<T> {
  const there = Promise.resolve(value)
  return { get: () => there, current: there }
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
  return providers.length > 0 && findDefaultModel(models) !== undefined
}

/** There is no model of anybody's yet. */
function isProvisional({ providers }: Config, models: ModelRegistry): boolean {
  const model = findDefaultModel(models)
  return model === undefined || (providers.length === 0 && model === 'demo')
}

function findDefaultModel(models: ModelRegistry): string | undefined {
  try {
    return models.defaultModel()
  } catch {
    return undefined // turns fail with why
  }
}
