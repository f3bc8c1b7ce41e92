import { isDeepStrictEqual } from 'node:util'
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { CrabError } from '../../core/base/errors.ts'
import { VERSION } from '../../core/base/version.ts'
import { readMetaDepth } from '../stdio/depth.ts'
import type { ServedAgent } from './agent-tools.ts'
import { type AskingTurn, askLater, askNow, PendingTurns } from './host-asks.ts'
import { lineTransport, type ServedStreams } from './line-transport.ts'
import { beginCall, listServed, type ServedAgents, toServedTools } from './served-tools.ts'
import type { ServedTurn } from './turn.ts'
import { toFailedCall } from './turn-record.ts'

/** What a process that serves is made of. */
export interface ServeAgentsOptions extends ServedAgents {
  streams: ServedStreams
  /** How many agents have called one another before this process was started. */
  depth: number
  /** What went wrong, a line for its log. */
  log(line: string): void
}

/**
 * Serves agents to an MCP host over standard input and output, in every revision from 2024-11-05 to 2026-07-28, until the
 * input ends or the signal says so; then the turns that run are cancelled, and have ended when it resolves.
 *
 * Throws `missing` before anything is said when an agent that is to be offered is not there.
 */
export async function serveAgents(options: ServeAgentsOptions, signal: AbortSignal): Promise<void> {
  await listServed(options, signal)
  const transport = lineTransport(options.streams)
  const over = new AbortController()
  const calls = new Calls(options, AbortSignal.any([signal, over.signal]))
  const stop = () => transport.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const onerror = ({ message }: Error) => options.log(message)
    const handle = serveStdio(({ era }) => newServer(calls, era), { transport, onerror })
    if (signal.aborted) await stop()
    await transport.ended
    await handle.close()
  } finally {
    signal.removeEventListener('abort', stop)
    over.abort(new CrabError('cancelled', 'Cancelled: the host has gone'))
    await calls.ended()
  }
}

function newServer(calls: Calls, era: 'legacy' | 'modern'): Server {
  const server = new Server(
    { name: 'crabtalk', version: VERSION },
    {
      capabilities: { tools: { listChanged: true } },
      instructions: 'Each send_… tool asks one agent, which works on its own and answers when it is done.',
      jsonSchemaValidator: { getValidator: refuseToCheck },
    },
  )
  const tell = () => void server.sendToolListChanged().catch(() => undefined) // a host that has gone needs no list
  server.setRequestHandler('tools/list', async (_, { mcpReq }) => ({
    tools: await calls.list(mcpReq.signal),
  }))
  server.setRequestHandler('tools/call', async (request, context) => {
    const answer = await calls.answer(request, { context, server, era })
    void calls.checkList(tell)
    return answer
  })
  return server
}

/** How a call came. */
interface IncomingCall {
  context: ServerContext
  server: Server
  era: 'legacy' | 'modern'
}

/** The calls of one host, and the turns behind them. */
class Calls {
  readonly #options: ServeAgentsOptions
  /** Aborted when the host has gone. */
  readonly #signal: AbortSignal
  readonly #turns = new Set<ServedTurn>()
  readonly #held = new PendingTurns()
  #listed: readonly ServedAgent[] | undefined

  constructor(options: ServeAgentsOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  async list(signal: AbortSignal): Promise<Tool[]> {
    const either = this.#either(signal)
    const agents = await listServed(this.#options, either)
    this.#listed = agents
    return toServedTools(agents)
  }

  /** Tells a host that has seen the list when there are other agents now; they change while agents work. */
  async checkList(tell: () => void): Promise<void> {
    const before = this.#listed
    if (!before || this.#signal.aborted) return
    const now = await listServed(this.#options, this.#signal).catch(() => before) // the next look may work
    if (isDeepStrictEqual(now, before) || this.#listed !== before) return
    this.#listed = now
    tell()
  }

  async answer(
    { params }: CallToolRequest,
    arrived: IncomingCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { mcpReq } = arrived.context
    const state = arrived.era === 'modern' ? mcpReq.requestState<string>() : undefined
    if (state !== undefined) return await this.#goOn(state, arrived)
    const call = {
      args: params.arguments ?? {},
      depth: Math.max(this.#options.depth, readMetaDepth(mcpReq._meta)),
      canAsk: canAsk(arrived),
    }
    const begun = await beginCall(this.#options, params.name, call, this.#either(mcpReq.signal))
    if (!begun) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${params.name}"`)
    if ('result' in begun) return begun.result
    const { turn } = begun
    this.#turns.add(turn)
    void turn.result.then(() => this.#turns.delete(turn))
    return await this.#follow(begun, arrived)
  }

  /** Follows a turn again whose host brings answers. */
  async #goOn(state: string, arrived: IncomingCall): Promise<CallToolResult | InputRequiredResult> {
    try {
      const held = await this.#held.take(state, arrived.context.mcpReq.inputResponses)
      return await this.#follow(held, arrived)
    } catch (reason) {
      return toFailedCall(reason)
    }
  }

  /** Cancels the turns that run and waits for them. */
  async ended(): Promise<void> {
    const turns = [...this.#turns]
    for (const turn of turns) turn.cancel(this.#signal.reason)
    await Promise.all(turns.map(({ result }) => result))
  }

  /** Follows a turn to its end, or to a question that the host answers by calling again. */
  async #follow(
    { turn, agent }: AskingTurn,
    { context, era }: IncomingCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { mcpReq } = context
    const cancel = () => turn.cancel(new CrabError('cancelled', 'Cancelled by the host'))
    if (mcpReq.signal.aborted) cancel()
    mcpReq.signal.addEventListener('abort', cancel, { once: true })
    turn.onProgress = createTurnProgress(context)
    try {
      for (let asks = await turn.next(); asks.length > 0; asks = await turn.next()) {
        if (era === 'modern') return askLater(this.#held, { turn, agent, asks })
        await Promise.all(asks.map((open) => askNow(open, { turn, agent, mcpReq })))
      }
      return await turn.result
    } finally {
      turn.onProgress = undefined
      mcpReq.signal.removeEventListener('abort', cancel)
    }
  }

  #either(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([this.#signal, signal])
  }
}

/** Whether a host can put a form to its person; an older one says only that it can elicit. */
function canAsk({ context, server, era }: IncomingCall): boolean {
  const envelope = context.mcpReq.envelope as Partial<Record<string, ClientCapabilities>> | undefined
  const declared =
    era === 'modern' ? envelope?.[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities()
  const elicitation = declared?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** Tells the host what happens, if it wants to know; each line counts one. */
function createTurnProgress({ mcpReq }: ServerContext): ServedTurn['onProgress'] {
  const token = mcpReq._meta?.progressToken
  if (token === undefined) return undefined
  let progress = 0
  return (message) => {
    const params = { progressToken: token, progress: ++progress, message }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined) // a host that has gone is told nothing
  }
}

/** In the place of the SDK's own validator, which compiles schemas; answers to forms are read without. */
function refuseToCheck(): never {
  throw new Error('answers are not checked against schemas')
}
