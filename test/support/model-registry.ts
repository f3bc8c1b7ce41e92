import type { Config, ProviderConfig } from '../../src/core/config/config.ts'
import { type ModelLookup, openModels } from '../../src/core/provider/discover.ts'
import type { ModelRegistry } from '../../src/core/provider/registry.ts'
import { collect, joinText, modelRequest } from './model-calls.ts'

/** Opens the models of a home that has only these settings. */
export function openRegistryWith(setting: Partial<ModelLookup>): Promise<ModelRegistry> {
  const usual = { config: makeModelConfig([]), env: {}, localServers: [] }
  return openModels({ ...usual, ...setting }, new AbortController().signal)
}

/** Builds the model settings of config.toml. */
export function makeModelConfig(
  providers: ProviderConfig[],
  defaultModel?: string,
): Pick<Config, 'providers' | 'defaultModel'> {
  return { providers, defaultModel }
}

/** Builds a provider of config.toml, by default an OpenAI-compatible one at a dead address. */
export function makeProviderConfig(more: Partial<ProviderConfig>): ProviderConfig {
  return {
    name: 'test',
    kind: 'openai-compatible',
    apiKey: undefined,
    baseUrl: 'http://127.0.0.1:1/v1',
    models: undefined,
    timeoutMs: 20_000,
    maxRetries: 0,
    where: 'config.toml:1',
    ...more,
  }
}

/** Returns the answer of a model, by default the default one, to `hi`. */
export async function askModel(models: ModelRegistry, model = models.defaultModel()): Promise<string> {
  return joinText(await collect(models.complete(modelRequest({ model }), new AbortController().signal)))
}
