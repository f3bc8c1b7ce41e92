import { pluralize } from '../../core/base/format.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import type { McpPeer, McpToolView } from '../../core/protocol/crabtalk.generated.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import { ruleEffectName } from './rows.ts'
import type { ViewedAgent, ViewedServer } from './view-facts.ts'

/** The header of toViewRow(). */
export const VIEW_HEADER = ['NAME', 'STATE', 'USED', 'DECIDED BY', 'DECLARED IN']

/** Returns the row of a declared server: whether the agent gets it, and what decided that. */
export function toViewRow({ name, state, isEffective, decidedBy, source }: ViewedServer): string[] {
  return [name, state, isEffective ? 'yes' : 'no', decidedBy === source ? 'its entry' : decidedBy, source]
}

/** Describes whether the agent gets a server, and what decided that. */
export function describeDecision({ isEffective, decidedBy, source }: ViewedServer): string {
  if (!isEffective) return `no: ${decidedBy}`
  return decidedBy === source ? 'yes' : `yes: ${decidedBy}`
}

/** Describes in one line which servers an agent gets. */
export function describeAgent({ agent, mode, generation }: ViewedAgent): string {
  return `${agent}: ${mode} (generation ${generation})`
}

/** Describes a server in rows of a name and a text: process, owners, health and tools. */
export function describeViewedServer(server: ViewedServer, now: number): [name: string, text: string][] {
  const { target, transport, envNames, headerNames, peer, tools } = server
  return [
    ['starts', transport === 'stdio' ? target : `${transport} ${target}`],
    ...toRow('env', envNames.join(', ')),
    ...toRow('headers', headerNames.join(', ')),
    ...(peer ? describePeer(peer, now) : []),
    ...describeHealth(server, now),
    ...describeTools(tools, peer),
  ]
}

function toRow(name: string, text: string): [string, string][] {
  return text === '' ? [] : [[name, text]]
}

function describePeer(peer: McpPeer, now: number): [string, string][] {
  const { fingerprint, pid, owners, connectedAt, calls, errors } = peer
  const parts = [
    shortFingerprint(fingerprint),
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(connectedAt === '' ? [] : [`connected ${relativeTime(connectedAt, now)}`]),
    `${pluralize(calls, 'call')}, ${pluralize(errors, 'error')}`,
  ]
  return [
    ['process', parts.join(', ')],
    ['owners', owners.map(({ agent, name }) => `${agent}/${name}`).join(', ')],
  ]
}

function describeHealth({ state, peer, error, lastErrorAt }: ViewedServer, now: number): [string, string][] {
  const ago = (time: string) => (time === '' ? '' : `${relativeTime(time, now)}: `)
  const rows = toRow('last error', error === '' ? '' : `${ago(lastErrorAt)}${error}`)
  if (!peer) return [...rows, ...toRow('retry', state === 'failed' ? 'with the next call' : '')]
  const good = peer.lastOkAt === '' ? 'no call yet' : relativeTime(peer.lastOkAt, now)
  const retry = peer.nextRetryAt === '' ? '' : `, next retry ${describeUntil(peer.nextRetryAt, now)}`
  return [['last good', good], ...rows, ['failures', `${peer.failures} in a row${retry}`]]
}

function describeUntil(time: string, now: number): string {
  const seconds = Math.ceil((Date.parse(time) - now) / 1000)
  return seconds > 0 ? `in ${seconds} s` : 'with the next call'
}

function describeTools(tools: ViewedServer['tools'], peer: McpPeer | undefined): [string, string][] {
  if (tools === undefined) return [['tools', peer?.protocolVersion ? `${peer.toolCount}` : 'not known yet']]
  const shown = tools.filter(isVisibleTool).length
  const count = shown === tools.length ? `${shown}` : `${shown} of ${tools.length}`
  return [['tools', count], ...tools.map((tool): [string, string] => ['', describeTool(tool)])]
}

function describeTool({ remoteName, effect, rule, hidden }: McpToolView): string {
  if (hidden !== '') return `${remoteName}: hidden, ${hidden}`
  const because = rule ? `by ${rule.pattern} of ${rule.source}` : '(no rule)'
  return `${remoteName}: ${ruleEffectName(effect)} ${because}`
}

/** Shortens a fingerprint, to enough characters to tell the servers of one home apart. */
export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, 8) || '-'
}
