import { isDeepStrictEqual } from 'node:util'
import { abortable } from '../core/base/abortable.ts'
import { toCrabError } from '../core/base/errors.ts'
import { readStamp } from '../core/base/file-stamp.ts'
import { type Lazy, lazy } from '../core/base/lazy.ts'
import type { Config } from '../core/config/config.ts'
import type { DefaultModelChange } from '../core/config/default-model.ts'
import { loadConfig } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { type ModelLookup, openModels } from '../core/provider/discover.ts'
import type { ModelRegistry } from '../core/provider/registry.ts'
import type { TurnConfig } from '../core/runtime/runtime-options.ts'

/** The dependencies of a live configuration. */
export interface LiveConfigOptions {
  paths: HomePaths
  env: Readonly<Record<string, string | undefined>>
  /** Aborted when the node shuts down. */
  shutdown: AbortSignal
  /**
   * Whether the node is a daemon, which serves more than one command: models that were missing at first may
   * appear, and its variables are not those of the user's shell.
   */
  isLongLived: boolean
  /** Runs key helpers of providers. */
  helperKeys: ModelLookup['helperKeys']
}

/** A part of config.toml, as users call it. */
export type ConfigPart = 'models' | '[permissions]' | '[env]' | '[mcp]' | '[skills]' | '[daemon]'

/** The current content of config.toml, ready to be put into use. */
export interface PreparedConfig {
  config: Config
  models: ModelRegistry
  /** The parts that differ from those in use; every part if nothing was read before. */
  changed: readonly ConfigPart[]
  /** The revision of the configuration it was compared with. */
  revision: number
  /** The stamp of the file. */
  stamp: string | undefined
}

/**
 * The reason why the configuration may be outdated: the file has changed, or the user had no model yet
 * (`provisional`).
 */
export type Staleness = 'changed' | 'provisional'

/** The configuration and the models it declares: read on first use, and again with `prepare()` and `use()`. */
export class LiveConfig {
  readonly #options: LiveConfigOptions
  #config: Lazy<Config>
  #models: Lazy<ModelRegistry>
  #current: TurnConfig | undefined
  #revision = 0
  /** The stamp of the file that was read last, whether it was valid or not. */
  #stamp: string | undefined
  /** The reason why the current file is not in use. */
  #problem: string | undefined

  constructor(options: LiveConfigOptions) {
    this.#options = options
    this.#config = lazy(async () => {
      this.#stamp = await this.#readStamp()
      return await loadConfig(options.paths)
    })
    this.#models = lazy(async () => {
      const config = await this.#config.get()
      const { env, shutdown, isLongLived: isInDaemon, helperKeys } = options
      const models = await openModels({ config, env, isInDaemon, helperKeys }, shutdown)
      if (models.defaultError) {
        const { withMissingKeyHint } = await import('./missing-key-hint.ts')
        models.setDefaultError(await withMissingKeyHint(models.defaultError, config, options))
      }
      this.#current ??= toTurnConfig(models, config)
      return models
    })
  }

  /** Returns the current configuration. Fails with `config`. */
  config(): Promise<Config> {
    return this.#config.get()
  }

  /** Returns the current models. Fails as `openModels()` does. */
  models(signal: AbortSignal): Promise<ModelRegistry> {
    return abortable(this.#models.get(), signal)
  }

  /** The configuration for turns; `models()` must have resolved once before. */
  get current(): TurnConfig {
    if (!this.#current) throw new Error('the setting is used before it was read')
    const problem = this.#problem
    return problem === undefined ? this.#current : { ...this.#current, warning: problem }
  }

  /**
   * Returns why the configuration may be outdated; undefined when it is current, or when nothing was read
   * yet. Never fails.
   */
  async staleness(): Promise<Staleness | undefined> {
    const [config, models] = await this.#read()
    if (!config || !models) return undefined
    if ((await this.#readStamp()) !== this.#stamp) return 'changed'
    return this.#options.isLongLived && isProvisional(config, models) ? 'provisional' : undefined
  }

  /**
   * Makes a model and its effort the default after they were written to config.toml, so that a reload finds no
   * change. Fails as `ModelRegistry.commit()` does.
   */
  async choose({ model, effort }: DefaultModelChange, signal: AbortSignal): Promise<void> {
    const models = await this.models(signal)
    if (model !== undefined) models.commit(model)
    this.#revision++
    const { effort: before, ...rest } = await this.#config.get()
    const level = effort === undefined ? before : effort || undefined
    const config: Config = {
      ...rest,
      ...(model !== undefined && { defaultModel: model }),
      ...(level !== undefined && { effort: level }),
    }
    this.#config = toLazy(config)
    if (this.#current) this.#current = toTurnConfig(models, config)
  }

  /**
   * Re-reads config.toml and opens what it declares, alongside what is in use. Fails as `loadConfig()` and
   * `openModels()` do, and when its default model cannot replace one that works; turns then carry the failure as a warning until a later file is put into use.
   */
  async prepare(signal: AbortSignal): Promise<PreparedConfig> {
    const stamp = await this.#readStamp()
    const revision = this.#revision
    try {
      const config = await loadConfig(this.#options.paths)
      return { ...(await this.#open(config, signal)), revision, stamp }
    } catch (reason) {
      if (signal.aborted) throw reason
      const { kind, message } = toCrabError(reason)
      if (kind === 'config') this.#stamp = stamp
      this.#problem = `${message}; the previous configuration stays in use`
      throw reason
    }
  }

  /**
   * Puts a prepared configuration into use; running turns keep theirs. Returns false, and does nothing, when
   * the configuration has changed since it was prepared.
   */
  use({ config, models, revision, stamp }: PreparedConfig): boolean {
    if (revision !== this.#revision) return false
    this.#revision++
    this.#stamp = stamp
    this.#problem = undefined
    this.#config = toLazy(config)
    this.#models = toLazy(models)
    this.#current = toTurnConfig(models, config)
    return true
  }

  async #open(
    config: Config,
    signal: AbortSignal,
  ): Promise<Pick<PreparedConfig, 'config' | 'models' | 'changed'>> {
    const [before, models] = await this.#read()
    const changed = findChangedParts(before, config)
    if (models && !changed.includes('models') && isSettled(config, models)) return { config, models, changed }
    const { env, shutdown, isLongLived: isInDaemon, helperKeys } = this.#options
    const until = AbortSignal.any([signal, shutdown])
    const opened = await openModels({ config, env, isInDaemon, helperKeys }, until)
    until.throwIfAborted() // otherwise a server whose request was aborted would count as one without models
    const isWorse = config.defaultModel !== undefined && models && findDefaultModel(models) !== undefined
    if (isWorse && opened.defaultError) throw opened.defaultError
    return { config, models: opened, changed }
  }

  /**
   * Returns the stamp of the file; undefined when it cannot be determined, which reading the file then
   * reports.
   */
  #readStamp(): Promise<string | undefined> {
    return readStamp(this.#options.paths.config).catch(() => undefined)
  }

  /** Returns what was read so far. */
  async #read(): Promise<[Config | undefined, ModelRegistry | undefined]> {
    const config = this.#config.current?.catch(() => undefined) // the callers already got the failure
    const models = this.#models.current?.catch(() => undefined)
    return [await config, await models]
  }
}

function toTurnConfig(provider: ModelRegistry, { permissions: rules, effort }: Config): TurnConfig {
  return { provider, rules, ...(effort !== undefined && { effort }) }
}

/** Wraps a value that exists already. */
function toLazy<T>(value: T): Lazy<T> {
  const there = Promise.resolve(value)
  return { get: () => there, current: there }
}

function findChangedParts(before: Config | undefined, after: Config): ConfigPart[] {
  const parts: readonly [ConfigPart, (config: Config) => unknown][] = [
    [
      'models',
      ({ providers, defaultModel, effort }) => ({
        providers: providers.map(withoutPlace),
        defaultModel,
        effort,
      }),
    ],
    [
      '[permissions]',
      ({ permissions }) => permissions.map(({ effect, pattern, for: only }) => [effect, pattern, only]),
    ],
    ['[env]', ({ env }) => env],
    ['[mcp]', ({ mcp }) => mcp],
    ['[skills]', ({ skillDirs }) => skillDirs],
    ['[daemon]', ({ daemon }) => daemon],
  ]
  return parts.filter(([, of]) => !before || !isDeepStrictEqual(of(before), of(after))).map(([part]) => part)
}

/** Removes the location: a provider that only moved to another line is unchanged. */
function withoutPlace({ where: _, ...provider }: Config['providers'][number]): object {
  return provider
}

/**
 * Whether the models can stay in use: detected models, or a default that could not be determined, may be
 * different by now.
 */
function isSettled({ providers }: Config, models: ModelRegistry): boolean {
  return providers.length > 0 && findDefaultModel(models) !== undefined
}

/** Whether the user has no model yet. */
function isProvisional({ providers }: Config, models: ModelRegistry): boolean {
  const model = findDefaultModel(models)
  return model === undefined || (providers.length === 0 && model === 'demo')
}

function findDefaultModel(models: ModelRegistry): string | undefined {
  try {
    return models.defaultModel()
  } catch {
    return undefined // turns fail with the reason
  }
}
