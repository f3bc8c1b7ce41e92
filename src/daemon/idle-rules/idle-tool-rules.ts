import { didYouMean } from '../../core/base/nearest.ts'
import { NAMEABLE_TOOLS } from '../../core/base/tool-names.ts'
import type { PermissionRule } from '../../core/config/permissions.ts'
import { READ_ONLY_COMMANDS_RULE } from '../../core/config/rule-syntax.ts'
import { parseRule } from '../../core/policy/pattern.ts'
import { couldMatch, matchesPieces } from '../../core/policy/wildcard.ts'
import { nameTools } from '../../mcp/tools/tool-names.ts'
import { type IdleRule, toIdleRule } from './idle-rule.ts'
import type { KnownServer, RuleScope } from './rule-scopes.ts'

/** A server that has run, with its own names of its tools. */
export interface ListedServer extends KnownServer {
  tools: readonly string[]
}

/**
 * Finds rules, and names in `tools`, that refer to an unknown tool or server, as far as that is known without
 * starting a server.
 */
export function findIdleToolRules(scope: RuleScope): IdleRule[] {
  return judgeAll(scope, (pieces) => {
    const text = pieces.join('*')
    if (!text.startsWith('mcp__')) return judgeBuiltIn(text)
    return matchServers(pieces, scope).length > 0 ? undefined : unknownServer(text, scope)
  })
}

/**
 * Finds rules, and names in `tools`, that refer to a missing tool of a known server. Reports nothing when a
 * server that the rule may refer to is not in `listed`.
 */
export function findUnlistedTools(scope: RuleScope, listed: readonly ListedServer[]): IdleRule[] {
  return judgeAll(scope, (pieces) => {
    const known = matchServers(pieces, scope).map((server) => listed.find((one) => isSame(one, server)))
    return known.every((one) => one !== undefined) ? judgeListed(pieces, known) : undefined
  })
}

type Judge = (pieces: readonly string[]) => IdleReason | undefined

function judgeAll(scope: RuleScope, judge: Judge): IdleRule[] {
  const rules = scope.rules.flatMap((rule) => {
    const pieces = toolPieces(rule)
    const reason = pieces && judge(pieces)
    return reason ? [toIdleRule(rule, reason.why, reason.hint)] : []
  })
  const names = scope.tools.flatMap(({ name, source }) => {
    const reason = judge([name])
    return reason ? [{ source, message: `"tools" has ${name}: ${reason.why}`, hint: reason.hint }] : []
  })
  return [...rules, ...names]
}

interface IdleReason {
  why: string
  hint: string
}

/** Returns the pieces of the tool name in a rule; undefined for rules about paths, commands and everything. */
function toolPieces({ pattern }: PermissionRule): readonly string[] | undefined {
  if (pattern === READ_ONLY_COMMANDS_RULE) return undefined
  const form = parseRule(pattern)
  if (form.about === 'mcp') return form.name
  return form.about === 'tool' ? [form.name] : undefined
}

function matchServers(pieces: readonly string[], { servers }: RuleScope): KnownServer[] {
  return servers.filter(({ name }) => couldMatch(pieces, `mcp__${name}__`))
}

function isSame(listed: ListedServer, server: KnownServer): boolean {
  return listed.name === server.name && (server.agent === undefined || listed.agent === server.agent)
}

function judgeBuiltIn(name: string): IdleReason | undefined {
  if (NAMEABLE_TOOLS.includes(name)) return undefined
  const hint = didYouMean(name, NAMEABLE_TOOLS) ?? 'tools of an MCP server are called mcp__SERVER__TOOL'
  return { why: 'no tool has that name', hint }
}

function unknownServer(text: string, { agent, servers }: RuleScope): IdleReason {
  const [, name = ''] = text.split('__')
  const names = servers.map((server) => server.name)
  return {
    why:
      agent === undefined ? `no agent has a server called ${name}` : `${agent} has no server called ${name}`,
    hint: didYouMean(name, names) ?? 'crabtalk mcp list shows the servers',
  }
}

function judgeListed(pieces: readonly string[], servers: readonly ListedServer[]): IdleReason | undefined {
  const names = servers.flatMap(({ name, tools }) => [
    ...tools.map((tool) => `mcp__${name}__${tool}`),
    ...nameTools([{ name, tools }]).flat(),
  ])
  if (names.length === 0 || names.some((name) => matchesPieces(pieces, name))) return undefined
  const near = pieces.length === 1 ? didYouMean(pieces.join(''), names) : undefined
  const server = [...new Set(servers.map(({ name }) => name))].join(', ')
  return {
    why: `no tool of ${server} has that name`,
    hint: near ?? `crabtalk mcp get ${servers[0]!.name} shows its tools`,
  }
}
