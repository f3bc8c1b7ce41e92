import type { ListModelsMsg, ModelInfo, ModelList } from '../../core/protocol/crabtalk.generated.ts'
import type { ModelEntry } from '../../core/provider/types.ts'
import type { Services } from '../services.ts'

/** `list_models`: what can be asked by name, and what is known of it; with `ask`, what the servers have besides. */
export async function handleListModels(
  services: Services,
  { ask }: ListModelsMsg,
  signal: AbortSignal,
): Promise<ModelList> {
  const registry = await services.models(signal)
  if (!ask) return { models: registry.list().map(toModelInfo) }
  const { models } = await registry.listAll(AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]))
  return { models: models.map(toModelInfo) }
}

/** How long servers are waited for. */
const ASK_MS = 3_000

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
