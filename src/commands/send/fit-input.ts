import { CrabError } from '../../core/base/errors.ts'
import { takeEnd, takeStart } from '../../core/base/truncate.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { Host } from '../host.ts'
import type { Input } from './input.ts'
import type { SendSettings, Truncate } from './settings.ts'

/** Input below this size fits every model in use; nobody is asked. */
const SMALL_CHARS = 32_768
/** Text has at least about this many characters per token, so a cut to it surely fits. */
const FEWEST_CHARS_PER_TOKEN = 2.5
/** Text never has more than about this many characters per token on average: longer input surely does not fit. */
const MOST_CHARS_PER_TOKEN = 8
/** Share of the context that is left for prompt, tools and the answer. */
const RESERVED = 0.25

/**
 * Input that the model can take: as it is, or cut as --truncate says. Throws `invalid` with the sizes.
 *
 * Where nobody knows how much the model takes the input stays as it is, and --truncate says so on standard error.
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
  const room = Math.floor(model.context * (1 - RESERVED) * FEWEST_CHARS_PER_TOKEN)
  if (settings.truncate && length > room) {
    return { ...input, content: truncateInput(input.content, room, settings.truncate) }
  }
  if (length <= model.context * MOST_CHARS_PER_TOKEN) return input
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

const UNKNOWN_SIZE = 'crabtalk: nothing was cut: it is unknown how much the model takes\n'

/** The model that will answer, as far as it is known: the one asked for, else the agent's own, else the default. */
async function findModel(
  { model, agent }: SendSettings,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<ModelInfo | undefined> {
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  const wanted = model || agents.find(({ name }) => name === (agent || DEFAULT_AGENT))?.model
  const { models } = await request(dispatch, 'listModels', {}, signal)
  return models.find((info) => (wanted ? info.name === wanted : info.active))
}

/** Cuts a text to its room at the head, the tail or the middle, and says there how much is missing. */
function truncateInput(text: string, room: number, where: Truncate): string {
  const missing = `[${text.length - room} characters were cut]`
  if (where === 'tail') return `${takeStart(text, room)}\n${missing}`
  if (where === 'head') return `${missing}\n${takeEnd(text, room)}`
  const half = Math.floor(room / 2)
  return `${takeStart(text, half)}\n${missing}\n${takeEnd(text, half)}`
}
