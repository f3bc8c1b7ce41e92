import { CrabError } from '../../core/base/errors.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { getProjectServerFile } from '../../core/config/project-server-file.ts'
import type { PolicyAction } from '../../core/policy/types.ts'
import type { ToolSpec } from '../../core/provider/types.ts'
import type { Hook, ToolDispatch, ToolOutput, ToolRequest } from '../../core/runtime/hook.ts'
import { withCallingTurn } from '../connection/trace.ts'
import { elicitThrough } from '../elicitation/elicit.ts'
import type { Claim } from '../peers/peer.ts'
import type { Peers } from '../peers/peers.ts'
import { listResources } from '../resources/list-resources.ts'
import { readResource } from '../resources/read-resource.ts'
import { refuseTaint } from '../taint/taint.ts'
import { toReadRuleNames } from '../tools/tool-names.ts'
import type { ResourceList } from '../types.ts'

/**
 * The tool that lists and reads resources, for agents that have a server with resources. Reading is permitted
 * like a call of the server's `resources/read`.
 */
export interface ResourceTool {
  name: string
  /** Adds the tool to those of an agent; returns the same list when it has no server with resources. */
  addTo(specs: readonly ToolSpec[], agentId: string): readonly ToolSpec[]
  describe: NonNullable<Hook['describe']>
  dispatch: NonNullable<Hook['dispatch']>
}

export function createResourceTool(peers: Pick<Peers, 'getClaims'>): ResourceTool {
  const findServers = (agentId: string) =>
    (peers.getClaims(agentId) ?? []).filter(({ peer }) => peer.memory.about?.hasResources)
  return {
    name: SPEC.name,
    addTo: (specs, agentId) => (findServers(agentId).length === 0 ? specs : [...specs, SPEC]),
    describe: (_name, request) => describeRead(request, findServers(request.agent.id)),
    dispatch(_name, call, signal) {
      const { agent, sender, runId } = call
      const work = () => run(call, findServers(agent.id), signal)
      return withCallingTurn({ agent: agent.name, sender, runId }, work)
    },
  }
}

/** Terse, because every request includes it. */
const SPEC: ToolSpec = {
  name: 'mcp_resources',
  description: 'List the resources of MCP servers, or read one by its uri',
  parameters: { type: 'object', properties: { server: { type: 'string' }, uri: { type: 'string' } } },
  readOnly: true,
}

/** Describes a read for the permission check; a listing needs no permission. */
function describeRead({ args }: ToolRequest, servers: readonly Claim[]): Promise<PolicyAction> | undefined {
  if (args['uri'] === undefined) return undefined
  const { server, uri } = args
  if (typeof uri !== 'string' || uri === '')
    throw new CrabError('invalid', 'Cannot read: uri is not a string')
  const { entry } = findServer(server, servers)
  const { name, remoteName: tool } = toReadRuleNames(entry.name)
  const project = getProjectServerFile(entry)
  return Promise.resolve({ kind: 'mcp', server: entry.name, tool, name, ...(project && { project }) })
}

function findServer(name: unknown, servers: readonly Claim[]): Claim {
  const found = servers.find(({ entry }) => entry.name === name)
  if (found) return found
  const names = servers.map(({ entry }) => entry.name).join(', ')
  throw new CrabError('invalid', `Cannot read: server must be one of ${names}`)
}

async function run(call: ToolDispatch, servers: readonly Claim[], signal: AbortSignal): Promise<ToolOutput> {
  const { args, action } = call
  if (action.kind === 'mcp') return await read(call, findServer(action.server, servers), signal)
  const selected = args['server'] === undefined ? servers : [findServer(args['server'], servers)]
  const lists = selected.map(async ({ peer, entry }) => {
    const list = await peer
      .use((connection) => listResources(connection, signal), signal)
      .catch(toErrorText(signal))
    return typeof list === 'string' ? [`${entry.name}: ${list}`] : toLines(entry.name, list)
  })
  const lines = (await Promise.all(lists)).flat()
  const more = lines.length > MAX_LINES ? [`[${lines.length - MAX_LINES} more]`] : []
  const output = [...lines.slice(0, MAX_LINES), ...more].join('\n')
  return { output: output === '' ? 'No resources.' : output, isError: false }
}

async function read(
  { args, spillDir, runId, ask, notice }: ToolDispatch,
  { peer, entry }: Claim,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const uri = String(args['uri'])
  await refuseTaint({ entry, tool: 'resources/read', args: { uri }, schema: undefined, notice }, signal)
  const elicit = elicitThrough({
    server: entry.name,
    turn: runId,
    notice,
    ask: (questions, questionSignal) => ask(questions, 'elicitation', questionSignal),
  })
  try {
    return await readResource({ peer, entry, uri, spillDir, elicit }, signal)
  } catch (reason) {
    if (signal.aborted || !(reason instanceof CrabError) || reason.kind !== 'tool') throw reason
    return { output: `${entry.name} refused: ${reason.message}`, isError: true }
  }
}

function toErrorText(signal: AbortSignal) {
  return (reason: unknown): string => {
    signal.throwIfAborted()
    return `cannot be listed: ${reason instanceof Error ? reason.message : String(reason)}`
  }
}

/** Formats one line for each resource: `docs docs://readme · readme, text/markdown: What this is`. */
function toLines(server: string, { resources, templates }: ResourceList): string[] {
  const all = [
    ...resources.map(({ uri, ...words }) => ({ uri, ...words })),
    ...templates.map(({ uriTemplate: uri, ...words }) => ({ uri, ...words })),
  ]
  return all.map(({ uri, name, mimeType, description }) => {
    const what = [name, mimeType].filter(Boolean).join(', ')
    const about = takeStart(description.replaceAll(/\s+/g, ' '), MAX_WORDS)
    return `${server} ${uri} · ${[what, about].filter(Boolean).join(': ')}`
  })
}

const MAX_LINES = 200
const MAX_WORDS = 200
