import { CrabError } from '../../core/base/errors.ts'
import {
  completePair,
  getNamespace,
  isForClients,
  isInNamespace,
  type NamedPair,
  ownsPair,
} from '../../core/policy/client-senders.ts'
import type { TcpClient } from '../../core/policy/trust.ts'
import { wireName } from '../../core/protocol/dispatch.ts'
import type { RequestOf } from '../../core/protocol/operations.ts'
import { noSuchQuestion } from '../../core/runtime/asks.ts'
import { noSuchRun } from '../../core/runtime/live/runs.ts'
import { noSuchSession } from '../../core/storage/session-errors.ts'
import type { RequestContext } from './request-context.ts'

/** The operations that a TCP client may call for its own pairs, sessions, runs and questions. */
export type OwnedOperation = keyof typeof CHECKS

/**
 * Throws unless a message concerns something that belongs to its client: `denied` for another client's pair;
 * `missing` for another client's session, run or question, as if it did not exist.
 */
export async function checkOwner(
  operation: OwnedOperation,
  message: unknown,
  served: RequestContext<never>,
): Promise<void> {
  await (CHECKS[operation] as Check<OwnedOperation>)(message as RequestOf<OwnedOperation>, served, operation)
}

type Check<O extends OwnedOperation> = (
  message: RequestOf<O>,
  served: RequestContext<never>,
  operation: string,
) => void | Promise<void>

const CHECKS = {
  send: checkTurn,
  stream: checkTurn,
  attach: checkPair,
  steerSession: checkPair,
  kill: checkPair,
  async compact(
    message: { session: string; agent: string; sender: string },
    served: RequestContext<'agents' | 'stores'>,
    name: string,
  ) {
    checkPair(message, served, name)
    if (message.session !== '') await checkSession(message.session, served)
  },
  newSession: checkPair,
  searchSessions: checkPair,
  /** The handler filters out the questions of others. */
  listAsks: () => {},
  async getSession(
    message: { session: string; agent: string; sender: string },
    served: RequestContext<'agents' | 'stores'>,
    name: string,
  ) {
    if (message.session === '') checkPair(message, served, name)
    else await checkSession(message.session, served)
  },
  listMessages: ({ session }: { session: string }, served: RequestContext<'agents' | 'stores'>) =>
    checkSession(session, served),
  generateTitle: ({ session }: { session: string }, served: RequestContext<'agents' | 'stores'>) =>
    checkSession(session, served),
  getConversationHistory: ({ filePath }: { filePath: string }, served: RequestContext<'agents' | 'stores'>) =>
    checkSession(filePath, served),
  waitRun({ runId }: { runId: string }, { services, channel }: RequestContext<'live'>) {
    if (!ownsPair(channel, services.live.get(runId))) throw noSuchRun(runId)
  },
  replyToAsk(
    message: { agent: string; sender: string; askId?: string | undefined },
    served: RequestContext<'asks'>,
    name: string,
  ) {
    checkPair(message, served, name)
    const { services, channel } = served
    const ask = services.asks.list('').find((one) => one.ask.id === message.askId)
    if (ask && !ownsPair(channel, ask)) throw noSuchQuestion()
  },
}

/**
 * Checks the guest as well: it speaks in the pair's conversation, but is another agent that the client talks
 * to.
 */
function checkTurn(
  message: Partial<NamedPair> & { guest?: string | undefined },
  served: RequestContext<never>,
  name: string,
) {
  checkPair(message, served, name)
  if (message.guest) checkPair({ ...message, agent: message.guest }, served, name)
}

function checkPair(
  message: { agent?: string | undefined; sender?: string | undefined },
  { channel }: RequestContext<never>,
  operation: string,
): void {
  const pair = completePair(channel, message)
  if (ownsPair(channel, pair)) return
  const { why, hint } = describeRefusal(channel as TcpClient, pair)
  throw new CrabError('denied', `Cannot serve ${wireName(operation as OwnedOperation)}: ${why}`, { hint })
}

/** Explains why a pair does not belong to a client. */
function describeRefusal(client: TcpClient, { agent, sender }: NamedPair): { why: string; hint: string } {
  const own = getNamespace(client)
  if (!isForClients(sender)) {
    const hint = `leave out the sender, or start it with "${own}:"; other conversations can only be used through the socket in the home directory`
    return { why: `a TCP client may not use the sender "${sender}"`, hint }
  }
  if (!isInNamespace(client, sender)) {
    const hint = `leave out the sender, or start it with "${own}:"`
    return { why: `the token "${own}" may not use the sender "${sender}"`, hint }
  }
  const only = client.token?.agent ?? ''
  const hint = `name the agent "${only}", or leave it out; crabtalk token new creates a token for another agent`
  return { why: `the token "${own}" is for the agent "${only}", not for "${agent}"`, hint }
}

async function checkSession(
  session: string,
  { services, channel }: RequestContext<'agents' | 'stores'>,
): Promise<void> {
  const [row] = await services.stores.storage.summaries([session]).catch(() => [])
  if (row && ownsPair(channel, await pairOfSession(row.summary))) return
  throw noSuchSession(`Cannot read session ${JSON.stringify(session)}`)

  /** Uses the current name of an agent that was renamed. */
  async function pairOfSession({
    agentId,
    agent,
    sender,
  }: {
    agentId: string
    agent: string
    sender: string
  }) {
    const { agents } = await services.agents.list()
    return { agent: agents.find(({ id }) => id === agentId)?.name ?? agent, sender }
  }
}
