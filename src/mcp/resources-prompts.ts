import { toCancelledError } from '../core/base/abortable.ts'
import { CrabError, toCrabError } from '../core/base/errors.ts'
import { didYouMean } from '../core/base/nearest.ts'
import type { ToolOutput } from '../core/runtime/hook.ts'
import { connectClaim } from './peers/connect-claim.ts'
import type { Claim } from './peers/peer.ts'
import type { Peers } from './peers/peers.ts'
import { getPrompt, listPrompts } from './prompts/prompts.ts'
import { listResources } from './resources/list-resources.ts'
import { readResource } from './resources/read-resource.ts'
import { toPrintableLine } from './tools/server-text.ts'
import type { McpServers, PromptMessage, PromptView, ResourceList } from './types.ts'

/** The operations of `McpServers` on resources and prompts. */
type ResourcesAndPrompts = Pick<McpServers, 'resources' | 'readResource' | 'prompts' | 'getPrompt'>

/** Implements the operations on resources and prompts. */
export function openResourcesAndPrompts(peers: Peers): ResourcesAndPrompts {
  return {
    async resources(agent, name, signal): Promise<ResourceList> {
      const claimed = await connectClaim(peers, { agent, name }, signal)
      const work = claimed.peer.use((connection) => listResources(connection, signal), signal)
      return await withServerError('list the resources', claimed, work, signal)
    },
    async readResource({ agent, name, uri, spillDir, outputLimit }, signal): Promise<ToolOutput> {
      const claimed = await connectClaim(peers, { agent, name }, signal)
      const { peer, entry } = claimed
      const limited = outputLimit === undefined ? entry : { ...entry, output_limit: outputLimit }
      const attachesAll = outputLimit !== undefined
      const work = resolveUri(uri, peer, signal).then((address) =>
        readResource({ peer, entry: limited, uri: address, spillDir, attachesAll }, signal),
      )
      return await withServerError(`read ${toPrintableLine(uri)}`, claimed, work, signal)
    },
    async prompts(agent, name, signal): Promise<PromptView[]> {
      const claimed = await connectClaim(peers, { agent, name }, signal)
      const work = claimed.peer.use((connection) => listPrompts(connection, signal), signal)
      return await withServerError('list the prompts', claimed, work, signal)
    },
    async getPrompt({ agent, name, prompt, args, spillDir }, signal): Promise<PromptMessage[]> {
      const claimed = await connectClaim(peers, { agent, name }, signal)
      const { peer, entry } = claimed
      const listing = peer.use((connection) => listPrompts(connection, signal), signal)
      checkPrompt(await withServerError('list the prompts', claimed, listing, signal), {
        server: name,
        prompt,
        args,
      })
      const work = getPrompt({ peer, entry, prompt, args, spillDir }, signal)
      return await withServerError(`get the prompt ${prompt}`, claimed, work, signal)
    },
  }
}

/**
 * Resolves text that is not a URI as the name of a resource. Throws `missing` when the server has no such
 * resource.
 */
async function resolveUri(uri: string, peer: Claim['peer'], signal: AbortSignal): Promise<string> {
  if (peer.memory.about?.hasResources === false) throw new CrabError('missing', 'it has no resources')
  if (/^[a-z][a-z0-9+.-]*:\S/i.test(uri)) return uri
  const { resources } = await peer.use((connection) => listResources(connection, signal), signal)
  const found = resources.find((one) => one.uri === uri) ?? resources.find(({ name }) => name === uri)
  if (found) return found.uri
  const known = resources.map(({ name }) => name)
  throw new CrabError('missing', 'it does not have that resource', {
    hint: didYouMean(uri, known) ?? 'list them with crabtalk mcp resources',
  })
}

async function withServerError<T>(
  what: string,
  { entry }: Claim,
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await work
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    const { kind, message, hint } = toCrabError(reason)
    const text = `Cannot ${what} of the MCP server "${entry.name}": ${message}`
    throw new CrabError(kind, text, { cause: reason, ...(hint && { hint }) })
  }
}

function checkPrompt(
  prompts: readonly PromptView[],
  { server, prompt, args }: { server: string; prompt: string; args: Readonly<Record<string, string>> },
): void {
  const names = prompts.map(({ name }) => name)
  const found = prompts.find(({ name }) => name === prompt)
  const what = `Cannot get the prompt ${toPrintableLine(prompt)} of the MCP server "${server}"`
  if (!found) {
    const hint = didYouMean(prompt, names) ?? `list them with crabtalk mcp prompts ${server}`
    throw new CrabError('missing', `${what}: it does not have that prompt`, { hint })
  }
  const known = found.arguments.map(({ name }) => name)
  const missing = found.arguments.filter(({ name, isRequired }) => isRequired && !Object.hasOwn(args, name))
  if (missing.length > 0) {
    const list = missing.map(({ name }) => name).join(', ')
    throw new CrabError('invalid', `${what}: ${list} ${missing.length > 1 ? 'are' : 'is'} missing`)
  }
  const unknown = Object.keys(args).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const hint = known.length === 0 ? 'it takes no arguments' : `its arguments are ${known.join(', ')}`
  throw new CrabError('invalid', `${what}: it has no argument ${toPrintableLine(unknown)}`, { hint })
}
