import type { ListModelsMsg, ModelInfo, ModelList } from '../../core/protocol/crabtalk.generated.ts'
import type { ModelEntry } from '../../core/provider/types.ts'
import type { Services } from '../services.ts'

/**
 * Handles `list_models`: returns the models that can be requested by name, and what is known of them; with
 * `ask`, also the models that servers report.
 */
export async function handleListModels(
  services: Pick<Services, 'models'>,
  { ask }: ListModelsMsg,
  signal: AbortSignal,
): Promise<ModelList> {
  const registry = await services.models(signal)
  if (!ask) return { models: registry.list().map(toModelInfo) }
  const { models } = await registry.listAll(AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]))
  return { models: models.map(toModelInfo) }
}

/** The timeout in milliseconds for servers that are asked for their models. */
const LIST_TIMEOUT_MS = 3_000

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
