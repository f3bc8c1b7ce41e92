import { EFFORTS } from '../../core/base/effort.ts'
import type { ChatAction } from './actions.ts'
import type { ChatState, ChosenModel } from './types.ts'

/** Returns the state with a choice of model and effort, and with what applies from then on. */
export function withChoice(
  state: ChatState,
  { model, effort }: ChosenModel,
  choiceScope: ChatState['choiceScope'],
): ChatState {
  const used = model ?? state.usual.model
  const level = effort ?? fitUsual({ ...state, model: used })
  return { ...state, chosenModel: model, chosenEffort: effort, choiceScope, model: used, effort: level }
}

/** Returns the state with the model and effort that apply where nothing is chosen. */
export function withUsual(state: ChatState, { usual, models }: ChatAction & { type: 'usual' }): ChatState {
  const { chosenModel: model, chosenEffort: effort, choiceScope } = state
  return withChoice({ ...state, usual, models }, { model, effort }, choiceScope)
}

/**
 * Returns the state with the choice of a conversation that is opened. The first one has the model of the command
 * line, others have it unless they store a choice.
 */
export function withStoredChoice(
  state: ChatState,
  { model = '', effort = '', isFirst = false }: ChatAction & { type: 'conversation' },
): ChatState {
  const { launch } = state
  const hasLaunch = launch.model !== undefined || launch.effort !== undefined
  const isStored = model !== '' || effort !== ''
  if (hasLaunch && (isFirst || !isStored)) return withChoice(state, launch, 'window')
  return withChoice(state, { model: model || undefined, effort: effort || undefined }, 'stored')
}

/** Returns the model that a request must name; empty: the conversation stores it, or it is the agent's. */
export function modelToName({ chosenModel = '', choiceScope }: ChatState): string {
  return choiceScope === 'stored' ? '' : chosenModel
}

/**
 * Returns the agent's effort, or the level nearest to it that its model has. A model that is not listed may have
 * any.
 */
function fitUsual({ usual: { effort }, model, models }: ChatState): string {
  const known = models.find(({ name, providerName }) => model === name || model === `${providerName}/${name}`)
  if (!known || effort === '') return effort
  return (
    known.efforts.findLast((level) => LEVELS.indexOf(level) <= LEVELS.indexOf(effort)) ??
    known.efforts[0] ??
    ''
  )
}

const LEVELS: readonly string[] = EFFORTS
