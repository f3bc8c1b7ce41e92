import { EFFORTS, isEffort } from '../../core/base/effort.ts'
import { formatCount, formatUsd } from '../../core/base/format.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newMenu } from '../overlays/menu.ts'
import { newPicker } from '../overlays/picker.ts'
import type { MenuOverlay, Picker, PickerItem } from '../overlays/types.ts'
import type { ChosenModel } from '../state/types.ts'
import { readUsual, type UsualModel } from '../state/usual-model.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** A model and a reasoning effort, and where they apply. */
export interface ModelChoice {
  /** Empty: the model that applies without this choice; undefined: the model stays as it is. */
  name: string | undefined
  /** The name of the target; undefined for this conversation. */
  target: string | undefined
  /** Empty: the default; undefined: the effort stays as it is. */
  effort: string | undefined
}

/**
 * `/model`: shows the models; `/model NAME [EFFORT]` chooses one for this conversation, `/model agent NAME` for
 * the agent, and `/model default NAME` for every agent without its own.
 */
export async function slashModel(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { name, target, effort } = parseModelLine(args)
  const models = await readModels(context, signal)
  if (name === '') return showOverlay(context, modelPicker(models, context))
  const isKnown = models.length === 0 || models.some((model) => matchesModel(model, name))
  if (target !== ALWAYS && !isKnown) return warnUnknown(name, models, context)
  await chooseModel({ name, target, effort }, context, signal)
}

/** `/effort`: shows the levels of the model; `/effort LEVEL` chooses one for this conversation. */
export async function slashEffort(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const level = args.toLowerCase()
  if (level === 'default' || isEffort(level))
    return await chooseModel(
      { name: undefined, target: undefined, effort: level === 'default' ? '' : level },
      context,
      signal,
    )
  if (args !== '')
    return printNotice(
      context,
      'warning',
      `Unknown effort ${args}`,
      `choose one of default, ${EFFORTS.join(', ')}`,
    )
  const { model } = context.state()
  const found = (await readModels(context, signal)).find((one) => hasName(one, model))
  if (found && found.efforts.length > 0) showOverlay(context, effortMenu(found, context))
  else
    printNotice(
      context,
      'info',
      `crabtalk knows no effort levels for ${model}`,
      '/effort LEVEL sends one all the same',
    )
}

/** Applies a choice to this conversation, to the agent's file, or to config.toml. */
export async function chooseModel(
  choice: ModelChoice,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (choice.target === AGENT) return await chooseForAgent(choice, context, signal)
  if (choice.target === ALWAYS) return await chooseForAll(choice, context, signal)
  await chooseForConversation(choice, context, signal)
}

const AGENT = 'this agent'
const ALWAYS = 'always'
const TARGETS: readonly string[] = ['this conversation', AGENT, ALWAYS]

function parseModelLine(args: string): ModelChoice & { name: string } {
  const words = args.split(/\s+/).filter(Boolean)
  const target = words[0] === 'default' ? ALWAYS : words[0] === 'agent' ? AGENT : undefined
  if (target !== undefined) words.shift()
  const last = words.at(-1) ?? ''
  const effort = words.length > 1 && isEffort(last) ? words.pop() : undefined
  return { name: words.join(' '), target, effort }
}

async function chooseForConversation(
  { name, effort }: ModelChoice,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { chosenModel, chosenEffort } = context.state()
  const chosen = {
    model: name === undefined ? chosenModel : name || undefined,
    effort: effort === undefined ? chosenEffort : effort || undefined,
  }
  await showUsual(context, signal)
  await storeChoice(chosen, context, signal)
  const origin = name === '' ? `, as set for ${context.state().agent}` : ''
  printNotice(context, 'success', `${describeModel(context.state())}${origin}`)
}

/** Stores the choice with the conversation, or has its first message store it. */
async function storeChoice(
  { model, effort }: ChosenModel,
  { dispatch, state, act }: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { session } = state()
  if (session !== undefined)
    await request(dispatch, 'setSessionModel', { session, model: model ?? '', effort: effort ?? '' }, signal)
  const isStored = session !== undefined || (model === undefined && effort === undefined)
  act({ type: 'choice', model, effort, scope: isStored ? 'stored' : 'next-message' })
}

async function chooseForAgent(
  { name, effort }: ModelChoice,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { agent } = context.state()
  const config = {
    ...(name !== undefined && { model: name === '' ? null : name }),
    ...(effort !== undefined && { effort: effort === '' ? null : effort }),
  }
  await request(
    context.dispatch,
    'updateAgent',
    { name: agent, config: JSON.stringify(config), prompt: '' },
    signal,
  )
  await dropChoice(context, signal)
  printNotice(
    context,
    'success',
    `${agent}: ${describeModel(context.state())}`,
    `saved in agents/${agent}.toml`,
  )
}

/** Sets the default. The error for an unknown name suggests the nearest names. */
async function chooseForAll(
  { name = '', effort }: ModelChoice,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (name === '' && effort === undefined)
    return printNotice(context, 'warning', 'Choose a model for all agents', '/model default NAME')
  await request(
    context.dispatch,
    'setActiveModel',
    { model: name, ...(effort !== undefined && { effort }) },
    signal,
  )
  await readModels(context, signal)
  const used = await dropChoice(context, signal)
  const own = used.isOwn ? `; ${context.state().agent} has a model of its own` : ''
  const level = effort ? ` ${effort}` : ''
  printNotice(
    context,
    'success',
    `Default model: ${name || used.model}${level}${own}`,
    'saved in config.toml',
  )
}

function describeModel({ model, effort }: { model: string; effort: string }): string {
  return `Model: ${model}${effort === '' ? '' : `, effort ${effort}`}`
}

/** Drops the choice for this conversation, and shows what applies instead. */
export async function dropChoice(context: SlashContext, signal: AbortSignal): Promise<UsualModel> {
  const { chosenModel, chosenEffort } = context.state()
  const usual = await showUsual(context, signal)
  if (chosenModel !== undefined || chosenEffort !== undefined)
    await storeChoice({ model: undefined, effort: undefined }, context, signal)
  return usual
}

async function showUsual({ dispatch, state, act }: SlashContext, signal: AbortSignal): Promise<UsualModel> {
  const { agent, models } = state()
  const usual = await readUsual(dispatch, agent, signal)
  act({ type: 'usual', usual, models })
  return usual
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

function modelPicker(models: readonly ModelInfo[], { state }: SlashContext): Picker {
  const { agent, chosenModel, chosenEffort = '', model, usual } = state()
  const isOwn = chosenModel === undefined
  const used = models.find((one) => hasName(one, model))
  const own: PickerItem = {
    value: '',
    label: `default of ${agent}`,
    detail: usual.model,
    isCurrent: isOwn,
    levels: isOwn ? (used?.efforts ?? []) : [],
  }
  const items = [own, ...models.map((one) => toItem(one, { chosenModel, model }))]
  return newPicker({
    picker: 'model',
    title: model === '' ? 'Model' : `Model: ${model}`,
    items,
    targets: { names: TARGETS, selected: 0 },
    level: chosenEffort,
  })
}

function effortMenu({ name, efforts }: ModelInfo, { state }: SlashContext): MenuOverlay {
  const levels = ['', ...efforts]
  const { chosenEffort = '' } = state()
  const items = levels.map((level) => ({
    value: level,
    label: level || 'default',
    detail: level === chosenEffort ? 'in use' : '',
  }))
  const selected = Math.max(0, levels.indexOf(chosenEffort))
  return newMenu({ picker: 'effort', title: `Reasoning effort of ${name}`, items, selected })
}

function toItem(
  item: ModelInfo,
  { chosenModel, model }: { chosenModel: string | undefined; model: string },
): PickerItem {
  const facts = formatFacts(item)
  return {
    value: item.name,
    label: item.name,
    detail: hasName(item, model) ? ['in use', facts].filter(Boolean).join(' · ') : facts,
    isCurrent: chosenModel !== undefined && hasName(item, chosenModel),
    levels: item.efforts,
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

function warnUnknown(name: string, models: readonly ModelInfo[], context: SlashContext): void {
  const names = models.map((model) => model.name)
  const suggestion = didYouMean(name, names)
  const more = '/model lists the models; /model PROVIDER/NAME uses one that is not listed'
  printNotice(context, 'warning', `Unknown model ${name}`, suggestion ?? more)
}
