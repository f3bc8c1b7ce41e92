import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { takeEnd, takeStart } from '../../core/base/truncate.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { Input } from './input.ts'
import type { SendSettings, Truncate } from './settings.ts'

/** The size in characters below which input fits every model in use; the model is not looked up. */
const SMALL_CHARS = 32_768
/** A lower bound of the average number of characters per token: input truncated to it certainly fits. */
const MIN_CHARS_PER_TOKEN = 2.5
/** An upper bound of the average number of characters per token: longer input certainly does not fit. */
const MAX_CHARS_PER_TOKEN = 8
/** The share of the context that is reserved for prompt, tools and the answer. */
const RESERVED = 0.25

/**
 * Returns input that fits the model: unchanged, or truncated as --truncate requests. Throws `invalid` with
 * the sizes.
 *
 * When the context size is unknown, the input is not changed, and with --truncate a note on standard error
 * says so.
 */
export async function fitInput(
  { input, settings, host, dispatch }: FitContext,
  signal: AbortSignal,
): Promise<Input> {
  const { length } = input.content
  if (length <= SMALL_CHARS) return input
  const model = await findModel(settings, dispatch, signal)
  if (!model?.context) {
    if (settings.truncate && settings.verbosity >= 0) host.stderr.write(UNKNOWN_SIZE)
    return input
  }
  const room = Math.floor(model.context * (1 - RESERVED) * MIN_CHARS_PER_TOKEN)
  if (settings.truncate && length > room) {
    return { ...input, content: truncateInput(input.content, room, settings.truncate) }
  }
  if (length <= model.context * MAX_CHARS_PER_TOKEN) return input
  throw new CrabError(
    'invalid',
    `Cannot send ${length} characters: ${model.name} takes ${model.context} tokens`,
    { hint: 'cut it with --truncate head, tail or middle' },
  )
}

interface FitContext {
  input: Input
  settings: SendSettings
  host: Host
  dispatch: Dispatch
}

const UNKNOWN_SIZE = 'crabtalk: nothing was cut: the context size of the model is unknown\n'

/**
 * Finds the model that will answer, as far as it is known: the requested one, else the agent's own, else the
 * default.
 */
async function findModel(
  { model, agent }: SendSettings,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<ModelInfo | undefined> {
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  const modelName = model || agents.find(({ name }) => name === (agent || DEFAULT_AGENT))?.model
  const { models } = await request(dispatch, 'listModels', {}, signal)
  return models.find((info) => (modelName ? info.name === modelName : info.active))
}

/** Truncates a text at the head, the tail or in the middle, and notes there how much is missing. */
function truncateInput(text: string, room: number, where: Truncate): string {
  const missing = `[${text.length - room} characters were cut]`
  if (where === 'tail') return `${takeStart(text, room)}\n${missing}`
  if (where === 'head') return `${missing}\n${takeEnd(text, room)}`
  const half = Math.floor(room / 2)
  return `${takeStart(text, half)}\n${missing}\n${takeEnd(text, half)}`
}
