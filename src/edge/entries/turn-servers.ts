import { toCrabError } from '../../core/base/errors.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { CredentialResolver } from '../credentials/types.ts'
import type { UntrustedFile } from './server-trust.ts'
import { type FoundServers, findSessionServers, type SessionServer } from './session-servers.ts'
import type { SessionPlace } from './types.ts'

/** The servers of one turn. */
export interface TurnServers {
  /** The literal entries as JSON, for the turn option `mcps`. */
  mcps: readonly string[]
  /** Facts that the user should see once. */
  notices: readonly ServerNotice[]
  /** The files that the user has not answered about with their current content. */
  unanswered: readonly UntrustedFile[]
}

/** A fact about servers that are not used, and what to do about it. */
export interface ServerNotice {
  text: string
  hint: string | undefined
}

/**
 * Finds the servers that a turn of an agent gets from files (ADR 0209). A server whose name the agent already
 * has is left out: the agent's own one stays. Never throws for a wrong file.
 */
export async function findTurnServers(
  { place, resolver }: { place: SessionPlace; resolver: CredentialResolver },
  { agent, dispatch }: { agent: string; dispatch: Dispatch },
  signal: AbortSignal,
): Promise<TurnServers> {
  const found = await findSessionServers(place, resolver)
  const ready = found.servers.flatMap(({ entry, server }) => (entry ? [{ entry, server }] : []))
  const own = ready.length === 0 ? [] : await readAgentServers(agent || DEFAULT_AGENT, dispatch, signal)
  const isFree = ({ name }: Pick<McpEntry, 'name'>) => findNameClash(own, name) === undefined
  return {
    mcps: ready.filter(({ entry }) => isFree(entry)).map(({ entry }) => JSON.stringify(entry)),
    notices: [
      ...toNotices(found),
      ...ready
        .filter(({ entry }) => !isFree(entry))
        .map(({ server }) => ({
          text: `the server "${server.name}" of ${server.file} is not used: the agent has one of that name`,
          hint: 'rename one of them',
        })),
    ],
    unanswered: found.untrusted.filter(({ trust }) => trust === 'unanswered'),
  }
}

/** Returns the servers that an agent has in its file or from components. */
async function readAgentServers(
  agent: string,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<readonly { name: string }[]> {
  try {
    return (await request(dispatch, 'listMcps', { agent }, signal)).mcps
  } catch (reason) {
    if (toCrabError(reason).kind !== 'missing') throw reason
    return [] // the turn creates the agent, or says that it does not exist
  }
}

function toNotices({ servers, problems }: FoundServers): ServerNotice[] {
  return [
    ...problems.map(({ message, hint }) => ({ text: message, hint })),
    ...servers.flatMap((one) => {
      const name = `the server "${one.server.name}"`
      if (one.state === 'invalid') return [{ text: `${name} is not used: ${one.reason}`, hint: one.hint }]
      return toUsedNotices(one).map((note) => ({
        text: `${name} of ${one.server.file}: ${note}`,
        hint: undefined,
      }))
    }),
  ]
}

/** Keys that were left out matter only for a server that is used. */
function toUsedNotices({ state, server: { notes } }: SessionServer): readonly string[] {
  return state === 'ready' ? notes : []
}
