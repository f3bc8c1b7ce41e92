import type { ModelInfo, ModelList } from '../../core/protocol/crabtalk.generated.ts'
import type { ModelEntry } from '../../core/provider/types.ts'

/** `list_models`: what can be asked by name, and what is known of it. */
export function listModels(models: readonly ModelEntry[]): ModelList {
  return { models: models.map(toModelInfo) }
}

function toModelInfo({ name, active, provider, facts }: ModelEntry): ModelInfo {
  return {
    name,
    active,
    providerName: provider,
    context: facts.context,
    inputUsd: facts.inputUsd,
    outputUsd: facts.outputUsd,
  }
}
