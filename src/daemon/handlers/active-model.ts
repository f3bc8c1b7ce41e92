import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { writeDefaultModel } from '../../core/config/default-model.ts'
import type { SetActiveModelMsg } from '../../core/protocol/crabtalk.generated.ts'
import { isCalled } from '../../core/provider/facts.ts'
import type { ModelRegistry } from '../../core/provider/registry.ts'
import type { Services } from '../services.ts'

/**
 * Handles `set_active_model`: sets the default model, here and in config.toml. Fails with `missing` for a
 * model that no source has.
 */
export async function setActiveModel(
  services: Pick<Services, 'node' | 'stores' | 'liveConfig' | 'models'>,
  { model }: SetActiveModelMsg,
  signal: AbortSignal,
): Promise<void> {
  if (model.trim() === '') throw new CrabError('invalid', 'Cannot use a model without a name')
  const registry = await services.models(signal)
  await checkModel(registry, model, signal)
  const { paths } = services.node
  await using _ = await services.stores.leases.take(`file:${paths.config}`, signal)
  await writeDefaultModel(paths, model)
  await services.liveConfig.choose(model, signal)
}

/** Accepts a model whose source cannot list its models: it may exist. */
async function checkModel(registry: ModelRegistry, model: string, signal: AbortSignal): Promise<void> {
  const { models, failures } = await registry.listAll(signal)
  const isListed = models.some(
    ({ name, provider }) => isCalled(name, model) || isCalled(`${provider}/${name}`, model),
  )
  if (isListed) return
  const owner = findModelOwner(registry, model)
  const mayBe =
    owner?.isOpen && (!owner.listModels || (failures.length > 0 && (await failsToList(owner, signal))))
  if (mayBe) return registry.prepare(model)
  const names = models.map(({ name }) => name)
  const hint =
    didYouMean(model, names) ??
    (names.length > 0 ? `choose one of ${names.slice(0, MAX_NAMED).join(', ')}` : 'no model is configured')
  throw new CrabError('missing', `Cannot find model "${model}"`, { hint })
}

type Owner = ReturnType<ModelRegistry['getSource']>

async function failsToList({ listModels }: Owner, signal: AbortSignal): Promise<boolean> {
  try {
    await listModels?.(signal)
    return false
  } catch {
    signal.throwIfAborted()
    return true // the next turn reports the failure
  }
}

function findModelOwner(registry: ModelRegistry, model: string): Owner | undefined {
  try {
    return registry.getSource(model)
  } catch {
    return undefined // the error of the caller lists more models than the registry knows
  }
}

const MAX_NAMED = 12
