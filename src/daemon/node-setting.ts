import { isDeepStrictEqual } from 'node:util'
import { orCancelled } from '../core/base/cancelled.ts'
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
}

/** What config.toml says and the models that come of it: read when first asked for, another after a reload. */
export class NodeSetting {
  readonly #options: NodeSettingOptions
  #config: Once<Config>
  #models: Once<ModelRegistry>
  #current: Setting | undefined
  #revision = 0

  constructor(options: NodeSettingOptions) {
    this.#options = options
    this.#config = once(() => loadConfig(options.paths))
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
    return this.#current
  }

  /** Makes a model the default, once config.toml says so: a reload finds nothing new in it. Fails as ModelRegistry.use(). */
  async choose(model: string, signal: AbortSignal): Promise<void> {
    const models = await this.models(signal)
    models.use(model)
    this.#revision++
    const config = { ...(await this.#config.get()), defaultModel: model }
    this.#config = made(config)
  }

  /** Reads config.toml again and opens what it declares, beside what is in use. Fails as loadConfig() and openModels(). */
  async prepare(signal: AbortSignal): Promise<Prepared> {
    const revision = this.#revision
    const before = await this.#config.made?.catch(() => undefined) // whoever asked for it was told
    const models = await this.#models.made?.catch(() => undefined)
    const { paths, env, over } = this.#options
    const config = await loadConfig(paths)
    const changed = changedParts(before, config)
    if (models && !changed.includes('models') && isSettled(config, models)) {
      return { config, models, changed, revision }
    }
    const opened = await openModels({ config, env }, AbortSignal.any([signal, over]))
    return { config, models: opened, changed, revision }
  }

  /**
   * What was prepared holds from now on; turns under way keep what they began with. False, and nothing done, when
   * something else has changed since it was prepared.
   */
  use({ config, models, revision }: Prepared): boolean {
    if (revision !== this.#revision) return false
    this.#revision++
    this.#config = made(config)
    this.#models = made(models)
    this.#current = { provider: models, rules: config.permissions }
    return true
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
    ['[permissions]', ({ permissions }) => permissions.map(({ effect, pattern }) => [effect, pattern])],
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
  if (providers.length === 0) return false
  try {
    models.defaultModel()
    return true
  } catch {
    return false
  }
}
