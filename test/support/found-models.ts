import type { Config, ProviderConfig } from '../../src/core/config/config.ts'
import { type ModelLookup, openModels } from '../../src/core/provider/discover.ts'
import type { ModelRegistry } from '../../src/core/provider/registry.ts'
import { collect, modelRequest, textOf } from './model-calls.ts'

/** The models of a place that has nothing but what is said here. */
export function modelsOf(setting: Partial<ModelLookup>): Promise<ModelRegistry> {
  const usual = { config: configOf([]), env: {}, localServers: [] }
  return openModels({ ...usual, ...setting }, new AbortController().signal)
}

/** What config.toml says of models. */
export function configOf(
  providers: ProviderConfig[],
  defaultModel?: string,
): Pick<Config, 'providers' | 'defaultModel'> {
  return { providers, defaultModel }
}

/** A provider of config.toml: an OpenAI-compatible one at a dead address, unless told otherwise. */
export function providerOf(more: Partial<ProviderConfig>): ProviderConfig {
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

/** What a model, by default the default one, says to `hi`. */
export async function say(models: ModelRegistry, model = models.defaultModel()): Promise<string> {
  return textOf(await collect(models.complete(modelRequest({ model }), new AbortController().signal)))
}
