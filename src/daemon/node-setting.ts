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

/** What config.toml says and the models that come of it: read when first asked for, another after a reload. */
export class NodeSetting {
  readonly #options: NodeSettingOptions
  #config: Once<Config>
  #models: Once<ModelRegistry>
  #current: Setting | undefined

  constructor(options: NodeSettingOptions) {
    this.#options = options
    this.#config = once(() => loadConfig(options.paths))
    this.#models = once(async () => this.#open(await this.#config.get()))
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

  async #open(config: Config): Promise<ModelRegistry> {
    const { env, over } = this.#options
    const models = await openModels({ config, env }, over)
    this.#current = { provider: models, rules: config.permissions }
    return models
  }
}
