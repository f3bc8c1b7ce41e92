import { didYouMean } from '../../core/base/nearest.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPicker } from '../overlays/picker.ts'
import type { PickerItem } from '../overlays/types.ts'
import { formatCount, formatUsd } from '../view/numbers.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/**
 * `/model`: shows the models; `/model NAME` chooses one for this chat, `/model default NAME` for every agent
 * without its own.
 */
export async function slashModel(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, defaultName] = /^default\s+(.+)$/.exec(args) ?? []
  if (defaultName !== undefined) return setDefault(defaultName, context, signal)
  const models = await readModels(context, signal)
  if (args === '') showOverlay(context, picker(models, context))
  else if (models.length === 0 || models.some((model) => matchesModel(model, args)))
    chooseForChat(args, context)
  else unknown(args, models, context)
}

/** Sets the default model. The error for an unknown name suggests the nearest names. */
async function setDefault(model: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  await request(context.dispatch, 'setActiveModel', { model }, signal)
  await readModels(context, signal)
  const { chosenModel } = context.state()
  const own =
    chosenModel === undefined || chosenModel === model ? '' : `; this chat still uses ${chosenModel}`
  printNotice(context, 'success', `Default model: ${model} (saved in config.toml)${own}`)
}

async function readModels(
  { dispatch, act }: SlashContext,
  signal: AbortSignal,
): Promise<readonly ModelInfo[]> {
  const { models } = await request(dispatch, 'listModels', { ask: true }, signal)
  act({ type: 'set', change: { models } })
  return models
}

/** Whether a model has this name, with or without its provider. */
function hasName({ name, providerName }: ModelInfo, query: string): boolean {
  return name === query || `${providerName}/${name}` === query
}

/**
 * Whether a model may be chosen. A name with a listed provider is accepted, because a provider may serve more
 * models than it lists.
 */
function matchesModel(model: ModelInfo, query: string): boolean {
  return hasName(model, query) || query.startsWith(`${model.providerName}/`)
}

/** Chooses the model for the next turns of this chat; an empty name leaves the choice to the agent. */
export function chooseForChat(name: string, context: SlashContext): void {
  const chosenModel = name === '' ? undefined : name
  context.act({ type: 'set', change: { chosenModel, ...(name !== '' && { model: name }) } })
  printNotice(context, 'success', name === '' ? 'The agent chooses the model' : `Model: ${name}`)
}

function picker(models: readonly ModelInfo[], { state }: SlashContext) {
  const { chosenModel, model } = state()
  const isOwn = chosenModel === undefined
  const own = { value: '', label: "the agent's own", detail: isOwn ? model : '', isCurrent: isOwn }
  const items = [own, ...models.map((one) => toItem(one, chosenModel))]
  return newPicker({ picker: 'model', title: 'Model', items })
}

function toItem(model: ModelInfo, chosen: string | undefined): PickerItem {
  return {
    value: model.name,
    label: model.name,
    detail: formatFacts(model),
    isCurrent: chosen !== undefined && hasName(model, chosen),
  }
}

/** Formats the known facts of a model; unknown ones are left out. */
function formatFacts({ active, providerName, context, inputUsd, outputUsd }: ModelInfo): string {
  const isPriced = inputUsd !== undefined && outputUsd !== undefined
  const price = `${formatUsd(inputUsd)} in, ${formatUsd(outputUsd)} out per million`
  return [
    ...(active ? ['default'] : []),
    ...(providerName === undefined ? [] : [providerName]),
    ...(context === undefined ? [] : [`${formatCount(context)} context`]),
    ...(isPriced ? [price] : []),
  ].join(' · ')
}

function unknown(name: string, models: readonly ModelInfo[], context: SlashContext): void {
  const names = models.map((model) => model.name)
  const suggestion = didYouMean(name, names)
  const more = '/model lists the models; /model PROVIDER/NAME uses one that is not listed'
  printNotice(context, 'warning', `Unknown model ${name}`, suggestion ?? more)
}
