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
import { readDepth, readMetaDepth } from '../stdio/depth.ts'
import { toFailedCall } from './call-result.ts'
import type { ServedAgent } from './definitions.ts'
import { type AskingTurn, elicitFromHost, PendingTurns, requestInput } from './host-asks.ts'
import { lineTransport, type ServedStreams } from './line-transport.ts'
import { beginCall, listServed, type ServedAgents, toServedTools } from './served-tools.ts'
import type { ServedTurn } from './turn.ts'

/** The options of `serveAgents()`. */
export interface ServeAgentsOptions extends ServedAgents {
  streams: ServedStreams
  /** Logs a failure, one line. */
  log(line: string): void
  /** Calls back when agent files may have changed, until disposed; without it they are read after each call. */
  watch?(onChange: () => void): Disposable
}

/**
 * Serves agents to an MCP host over standard input and output (ADR 0119), in every revision from 2024-11-05
 * to 2026-07-28, until the input ends or the signal is aborted. Running turns are then cancelled and have
 * ended when it resolves.
 *
 * Throws `missing` before any message when an agent to be offered does not exist.
 */
export async function serveAgents(options: ServeAgentsOptions, signal: AbortSignal): Promise<void> {
  const logged = new Set<string>()
  const onIssues = (issues: readonly string[]) => {
    for (const issue of issues.filter((one) => !logged.has(one))) options.log(`left out: ${issue}`)
    for (const issue of issues) logged.add(issue)
  }
  const served = { ...options, onIssues }
  await listServed(served, signal)
  const transport = lineTransport(options.streams)
  const shutdown = new AbortController()
  const calls = new Calls(served, AbortSignal.any([signal, shutdown.signal]))
  using _watching = options.watch?.(() => calls.onAgentsChange())
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
    shutdown.abort(new CrabError('cancelled', 'Cancelled: the host is gone'))
    await calls.ended()
  }
}

function newServer(calls: Calls, era: 'legacy' | 'modern'): Server {
  const server = new Server(
    { name: 'crabtalk', version: VERSION },
    {
      capabilities: { tools: { listChanged: true } },
      instructions: 'Each send_… tool asks one agent, which works by itself and answers when it is done.',
      jsonSchemaValidator: { getValidator: refuseToCheck },
    },
  )
  const notifyListChanged = () => void server.sendToolListChanged().catch(() => undefined) // a disconnected host needs no list
  calls.onAgentsChange = () => void calls.checkList(notifyListChanged)
  server.setRequestHandler('tools/list', async (_, { mcpReq }) => ({
    tools: await calls.list(mcpReq.signal),
  }))
  server.setRequestHandler('tools/call', async (request, context) => {
    const answer = await calls.answer(request, { context, server, era })
    void calls.checkList(notifyListChanged)
    return answer
  })
  return server
}

/** A call with the server it arrived at. */
interface IncomingCall {
  context: ServerContext
  server: Server
  era: 'legacy' | 'modern'
}

/** The calls of one host, and their turns. */
class Calls {
  readonly #options: ServeAgentsOptions
  /** Aborted when the host has disconnected. */
  readonly #signal: AbortSignal
  readonly #turns = new Set<ServedTurn>()
  readonly #pendingTurns = new PendingTurns()
  #lastList: readonly ServedAgent[] | undefined
  /** Called when agent files may have changed; set by the server of the current host. */
  onAgentsChange = () => {}

  constructor(options: ServeAgentsOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  async list(signal: AbortSignal): Promise<Tool[]> {
    const either = this.#either(signal)
    const agents = await listServed(this.#options, either)
    this.#lastList = agents
    return toServedTools(agents)
  }

  /**
   * Notifies a host that has listed the tools when the agents have changed, which may happen while agents
   * work.
   */
  async checkList(notify: () => void): Promise<void> {
    const before = this.#lastList
    if (!before || this.#signal.aborted) return
    const now = await listServed(this.#options, this.#signal).catch(() => before) // retried after the next call
    if (isDeepStrictEqual(now, before) || this.#lastList !== before) return
    this.#lastList = now
    notify()
  }

  async answer(
    { params }: CallToolRequest,
    incoming: IncomingCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { mcpReq } = incoming.context
    const state = incoming.era === 'modern' ? mcpReq.requestState<string>() : undefined
    if (state !== undefined) return await this.#resume(state, incoming)
    const call = {
      args: params.arguments ?? {},
      depth: Math.max(readDepth(this.#options.env), readMetaDepth(mcpReq._meta)),
      canAsk: canAsk(incoming),
    }
    const started = await beginCall(this.#options, params.name, call, this.#either(mcpReq.signal))
    if (!started)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The tool "${params.name}" does not exist`)
    if ('result' in started) return started.result
    const { turn } = started
    this.#turns.add(turn)
    void turn.result.then(() => this.#turns.delete(turn))
    return await this.#follow(started, incoming)
  }

  /** Resumes a turn with the host's answers. */
  async #resume(state: string, incoming: IncomingCall): Promise<CallToolResult | InputRequiredResult> {
    try {
      const pending = await this.#pendingTurns.take(state, incoming.context.mcpReq.inputResponses)
      return await this.#follow(pending, incoming)
    } catch (reason) {
      return toFailedCall(reason)
    }
  }

  /** Cancels the running turns and waits for their end. */
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
        if (era === 'modern') return requestInput(this.#pendingTurns, { turn, agent, asks })
        await Promise.all(asks.map((open) => elicitFromHost(open, { turn, agent, mcpReq })))
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

/** Whether a host can show a form to its user; an older host only declares that it supports elicitation. */
function canAsk({ context, server, era }: IncomingCall): boolean {
  const envelope = context.mcpReq.envelope as Partial<Record<string, ClientCapabilities>> | undefined
  const declared =
    era === 'modern' ? envelope?.[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities()
  const elicitation = declared?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** Reports the progress of a turn if the host asked for it; each line counts as one step. */
function createTurnProgress({ mcpReq }: ServerContext): ServedTurn['onProgress'] {
  const token = mcpReq._meta?.progressToken
  if (token === undefined) return undefined
  let progress = 0
  return (message) => {
    const params = { progressToken: token, progress: ++progress, message }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined) // the host may have disconnected
  }
}

/** Replaces the SDK's validator, which compiles schemas; responses to forms are read without it. */
function refuseToCheck(): never {
  throw new Error('answers are not checked against schemas')
}
