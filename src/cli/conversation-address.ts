import { CrabError } from '../core/base/errors.ts'
import { DEFAULT_AGENT } from '../core/config/default-name.ts'
import { type Dispatch, request } from '../core/protocol/dispatch.ts'
import type { ParsedOptions } from './command.ts'
import type { Host } from './host.ts'

/** A conversation, as commands name it. */
export interface ConversationAddress {
  agent: string
  sender: string
}

/** Returns the sender of a user who does not name one. */
export function defaultSender({ env }: Pick<Host, 'env'>): string {
  return env['USER'] || env['USERNAME'] || 'user'
}

/**
 * Finds the conversation named by AGENT/SENDER, AGENT or the id of a run, and by -a and -s; without them, the
 * user's own conversation with the default agent. An active run may be named by the end of its id.
 *
 * Throws `usage` for contradictions, `missing` for an unknown run.
 */
export async function findAddress(
  { options, host }: { options: ParsedOptions; host: Pick<Host, 'env'> },
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<ConversationAddress> {
  const [word] = options.args
  const [agent, sender] = ['agent', 'sender'].map((name) => options.value(name))
  if (word === undefined) return { agent: agent ?? DEFAULT_AGENT, sender: sender ?? defaultSender(host) }
  if (agent !== undefined) throw alreadyNamedError('--agent')
  const slash = word.indexOf('/')
  if (slash < 0) {
    const run = await findRunAddress(word, dispatch, signal)
    if (!run) return { agent: word, sender: sender ?? defaultSender(host) }
    if (sender !== undefined) throw alreadyNamedError('--sender')
    return run
  }
  if (sender !== undefined) throw alreadyNamedError('--sender')
  return readPair(word, slash)
}

/** Resolves the full id of a run: from that id or, while the run is active, from its end. */
export async function resolveRunId(word: string, dispatch: Dispatch, signal: AbortSignal): Promise<string> {
  const id = word.toUpperCase()
  if (ULID.test(id)) return id
  const found = await findRunningBySuffix(id, dispatch, signal)
  if (found) return found.runId
  throw new CrabError('missing', `Cannot find run ${word}: no active run has an id ending in "${word}"`, {
    hint: 'give the whole id, as crabtalk send --detach printed it',
  })
}

/** Returns undefined for a word that is not the id of a run. */
async function findRunAddress(
  word: string,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<ConversationAddress | undefined> {
  const id = word.toUpperCase()
  const running = await findRunningBySuffix(id, dispatch, signal)
  if (running) return { agent: running.agent, sender: running.sender }
  if (!ULID.test(id)) return undefined
  const { agent, sender } = await request(dispatch, 'waitRun', { runId: id, peek: true }, signal)
  return { agent, sender }
}

async function findRunningBySuffix(id: string, dispatch: Dispatch, signal: AbortSignal) {
  if (id.length < MIN_ID_LENGTH) return undefined
  const { conversations } = await request(dispatch, 'listActiveConversations', {}, signal)
  const found = conversations.filter(({ runId }) => runId.endsWith(id))
  if (found.length < 2) return found[0]
  throw new CrabError('conflict', `Cannot choose: the ids of ${found.length} runs end in "${id}"`, {
    hint: 'give more of the id',
  })
}

function readPair(word: string, slash: number): ConversationAddress {
  const [agent, sender] = [word.slice(0, slash), word.slice(slash + 1)]
  if (agent !== '' && sender !== '') return { agent, sender }
  throw new CrabError('usage', `Cannot use ${word}: one side of it is empty`, {
    hint: `for example ${DEFAULT_AGENT}/notes`,
  })
}

function alreadyNamedError(option: string): CrabError {
  return new CrabError('usage', `Cannot use ${option}: the conversation is named already`, {
    hint: `leave ${option} out`,
  })
}

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
/** The minimum length of the end of an id; shorter words are names. */
const MIN_ID_LENGTH = 6
