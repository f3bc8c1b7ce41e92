import { toCancelledError } from '../core/base/abortable.ts'
import { CrabError, toCrabError } from '../core/base/errors.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import { findAgentServer } from '../core/config/mcp-declaration.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import { toTarget } from './fingerprint.ts'
import { connectClaim, getClaim, withServerName } from './peers/connect-claim.ts'
import type { Peers } from './peers/peers.ts'
import { ServerLog } from './peers/server-log.ts'
import type { ServerMemory } from './peers/server-memory.ts'
import { callTool, checkArguments, toUnavailable } from './peers/tool-call.ts'
import { adviseCredentials, LOGIN_COMMAND, toLoginCommand } from './remote/login-hint.ts'
import { listAgentTools } from './tools/agent-tools.ts'
import { hiddenBy } from './tools/entry-filter.ts'
import { toPrintableLine } from './tools/server-text.ts'
import { keepTexts } from './tools/word-arguments.ts'
import type { McpServers } from './types.ts'
import { type DeclaredServer, viewPeer, viewServers } from './views.ts'

interface ServerCallsOptions {
  peers: Peers
  memory: ServerMemory
  /** Milliseconds since 1970. */
  now(): number
  logDir: string | undefined
}

/** The operations of `McpServers` on one declaration and its tools. */
type ServerCalls = Pick<McpServers, 'connect' | 'ping' | 'reconnect' | 'call' | 'logs' | 'verify'>

/** Implements the operations on one declaration and its tools. */
export function openServerCalls({ peers, memory, now, logDir }: ServerCallsOptions): ServerCalls {
  return {
    async connect(agent, name, signal) {
      const { peer } = await connectClaim(peers, { agent, name }, signal)
      return viewPeer(peer)
    },
    async ping(agent, name, signal) {
      const { peer, connection } = await connectClaim(peers, { agent, name }, signal)
      const began = now()
      await withServerName({ agent: agent.name, name }, connection.ping(signal), signal)
      return { ms: now() - began, peer: viewPeer(peer) }
    },
    async reconnect(agent, name, signal) {
      const { peer } = await getClaim(peers, agent, name)
      await withServerName({ agent: agent.name, name }, peer.reconnect(signal), signal)
      return viewPeer(peer)
    },
    async call({ agent, name, tool, args, words, spillDir, outputLimit }, signal) {
      const { peer, entry } = await connectClaim(peers, { agent, name }, signal)
      const declared = agent.mcps.map((one) => describeDeclaration(one, agent, { peers, memory }))
      const own = listAgentTools(declared).filter((one) => one.entry.name === name)
      const found = own.find((one) => one.tool.name === tool) ?? own.find((one) => one.name === tool)
      if (!found) throw toMissingToolError(entry, tool)
      const typedArgs = words === undefined ? args : keepTexts(found.tool.inputSchema, args, words)
      checkArguments(found.tool, typedArgs)
      const limited = outputLimit === undefined ? entry : { ...entry, output_limit: outputLimit }
      const onProgress = () => {} // the caller waits for the result
      const attachesAll = outputLimit !== undefined
      const call = {
        peer,
        agent: agent.name,
        entry: limited,
        tool: found.tool.name,
        args: typedArgs,
        spillDir,
        onProgress,
      }
      return await callTool({ ...call, attachesAll }, signal)
    },
    logs(agent, name) {
      const entry = findAgentServer(agent, name)
      const lines = peers.find(entry, agent.id)?.logs() ?? []
      if (lines.length > 0 || logDir === undefined) return lines
      return new ServerLog(logDir, peers.fingerprint(entry, agent.id)).read()
    },
    verify: (agent, entry, signal) => verifyEntry(peers, { agent, entry }, signal),
  }
}

/** Describes the server of a declaration without starting it: as it runs, or as it was last seen. */
export function describeDeclaration(
  entry: McpEntry,
  agent: Pick<AgentConfig, 'id' | 'name'>,
  { peers, memory }: Pick<ServerCallsOptions, 'peers' | 'memory'>,
): DeclaredServer {
  const peer = peers.find(entry, agent.id)
  const fingerprint = peers.fingerprint(entry, agent.id)
  if (entry.disabled) return { entry, fingerprint, state: 'disabled', list: undefined }
  if (peer) {
    const { state, list, lastErrorAt, error } = { ...viewPeer(peer), list: peer.list }
    return withLoginCommand({ entry, fingerprint, state, list, error, lastErrorAt }, agent.name)
  }
  const issue = peers.validate(entry)
  if (issue) return { entry, fingerprint, state: 'invalid', list: undefined, error: issue.message }
  const { list, failure } = memory.readNow(fingerprint)
  const known = { entry, fingerprint, list, error: failure?.why ?? '', lastErrorAt: failure?.at }
  const state = failure ? (failure.needsAuth ? 'needs_auth' : 'failed') : 'idle'
  return withLoginCommand({ ...known, state }, agent.name)
}

/** Adds the command that logs in to the error of a server that needs it. */
function withLoginCommand(server: DeclaredServer, agent: string): DeclaredServer {
  const { entry, state, error } = server
  if (state !== 'needs_auth' || error === undefined || error === '') return server
  const target = toTarget(entry, { home: '', baseEnv: {} })
  if (target.transport === 'stdio' || adviseCredentials(target) !== LOGIN_COMMAND) return server
  return { ...server, error: `${error}; log in with ${toLoginCommand(entry.name, agent)}` }
}

async function verifyEntry(
  peers: Peers,
  { agent, entry }: { agent: Pick<AgentConfig, 'id'>; entry: McpEntry },
  signal: AbortSignal,
): ReturnType<McpServers['verify']> {
  const acquired = await peers.acquire(entry, agent.id)
  const { peer } = acquired
  try {
    await peer.connect({ insist: true }, signal)
  } catch (reason) {
    await acquired[Symbol.asyncDispose]()
    if (signal.aborted) throw toCancelledError(signal)
    throw toUnavailable(entry.name, toCrabError(reason), undefined)
  }
  const { list, fingerprint, state } = peer
  const [view] = viewServers(NO_AGENT, [{ entry, fingerprint, state, list }])
  const verified = { peer: viewPeer(peer), tools: view!.tools }
  return { ...verified, [Symbol.asyncDispose]: () => acquired[Symbol.asyncDispose]() }
}

function toMissingToolError(entry: McpEntry, tool: string): CrabError {
  const hidden = hiddenBy(entry, tool)
  const why = hidden === '' ? 'it does not have that tool' : `the agent does not get it: ${hidden}`
  return new CrabError(
    'missing',
    `Cannot call ${toPrintableLine(tool)} of the MCP server "${entry.name}": ${why}`,
  )
}

/** A stand-in agent for verifying an entry without an owner. */
const NO_AGENT = { tools: [] }
