import { didYouMean } from '../../core/base/nearest.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPicker } from '../overlays/picker.ts'
import type { PickerItem } from '../overlays/types.ts'
import { formatCount, formatUsd } from '../view/numbers.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/model`, `/model NAME` for this chat, `/model default NAME` for every agent without a model of its own. */
export async function slashModel(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, wished] = /^default\s+(.+)$/.exec(args) ?? []
  if (wished !== undefined) return setDefault(wished, context, signal)
  const models = await readModels(context, signal)
  if (args === '') showOverlay(context, picker(models, context))
  else if (models.length === 0 || models.some((model) => matchesModel(model, args)))
    chooseForChat(args, context)
  else unknown(args, models, context)
}

/** Nearest names of one that is none come with the failure. */
async function setDefault(model: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  await request(context.dispatch, 'setActiveModel', { model }, signal)
  await readModels(context, signal)
  printNotice(context, 'success', `${model} is the default from now on`)
}

async function readModels(
  { dispatch, act }: SlashContext,
  signal: AbortSignal,
): Promise<readonly ModelInfo[]> {
  const { models } = await request(dispatch, 'listModels', { ask: true }, signal)
  act({ type: 'set', change: { models } })
  return models
}

/** A model may be named with its provider. */
function hasName({ name, providerName }: ModelInfo, wanted: string): boolean {
  return name === wanted || `${providerName}/${name}` === wanted
}

/** A provider may have more than it says, and takes what is asked of it by its name. */
function matchesModel(model: ModelInfo, wanted: string): boolean {
  return hasName(model, wanted) || wanted.startsWith(`${model.providerName}/`)
}

/** The next turns of this chat use the model; an empty name leaves it to the agent. */
export function chooseForChat(name: string, context: SlashContext): void {
  const chosenModel = name === '' ? undefined : name
  context.act({ type: 'set', change: { chosenModel, ...(name !== '' && { model: name }) } })
  printNotice(context, 'success', name === '' ? 'The agent chooses the model' : `${name} answers from now on`)
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

/** What is known of a model; nothing is said of the rest. */
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
  const meant = didYouMean(name, names)
  const more = '/model lists those there are, /model PROVIDER/NAME takes one that is not listed'
  printNotice(context, 'warning', `There is no model ${name}`, meant ?? more)
}
