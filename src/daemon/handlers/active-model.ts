import { parseEffort } from '../../core/base/effort.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { type ContextWindow, writeDefaultModel } from '../../core/config/default-model.ts'
import type { SetActiveModelMsg } from '../../core/protocol/crabtalk.generated.ts'
import { isCalled } from '../../core/provider/facts.ts'
import type { ModelRegistry } from '../../core/provider/registry.ts'
import type { Services } from '../services.ts'

/**
 * Handles `set_active_model`: sets the default model and its reasoning effort, here and in config.toml. An
 * empty name keeps the model. Fails with `missing` for a model that no source has.
 */
export async function setActiveModel(
  services: Pick<Services, 'node' | 'stores' | 'liveConfig' | 'models'>,
  { model, effort: level }: SetActiveModelMsg,
  signal: AbortSignal,
): Promise<void> {
  const isNamed = model.trim() !== ''
  if (!isNamed && level === undefined) throw new CrabError('invalid', 'Cannot use a model without a name')
  const effort = level ? parseEffort(level) : toEmpty(level)
  const window = isNamed ? await checkModel(await services.models(signal), model, signal) : undefined
  const choice = { ...(isNamed && { model }), ...(effort !== undefined && { effort }) }
  const { paths } = services.node
  await using _ = await services.stores.leases.take(`file:${paths.config}`, signal)
  await writeDefaultModel(paths, { ...choice, ...(window && { window }) })
  await services.liveConfig.choose(choice, signal)
}

/** An empty level is removed, an absent one is kept. */
function toEmpty(level: string | undefined): '' | undefined {
  return level === undefined ? undefined : ''
}

/**
 * Accepts a model whose source cannot list its models: it may exist. Returns the context window that the source
 * reports, if it was not known.
 */
async function checkModel(
  registry: ModelRegistry,
  model: string,
  signal: AbortSignal,
): Promise<ContextWindow | undefined> {
  const { models, failures } = await registry.listAll(signal)
  const listed = models.find(
    ({ name, provider }) => isCalled(name, model) || isCalled(`${provider}/${name}`, model),
  )
  if (listed) {
    const { context: tokens } = listed.facts
    const isNew = tokens !== undefined && tokens !== registry.facts(model).context
    return isNew ? { ...registry.locate(model), tokens } : undefined
  }
  const owner = findModelOwner(registry, model)
  const mayBe =
    owner?.isOpen && (!owner.listModels || (failures.length > 0 && (await failsToList(owner, signal))))
  if (mayBe) {
    registry.prepare(model)
    return undefined
  }
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
