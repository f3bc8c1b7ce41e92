import { CLASS_RIGHTS, rulesFor } from './class-rights.ts'
import { matchesAction, parseRule } from './pattern.ts'
import type { PolicyAction, Rule, Trust } from './types.ts'

/** A tool that may be shown to a model. */
export interface OfferableTool {
  name: string
  readOnly?: boolean
  /** The MCP server it belongs to. */
  server?: string
  /** Its name on that server. */
  alias?: string
}

/** The facts that decide which tools are shown in a turn. */
export interface OfferContext {
  trust: Trust
  rules: readonly Rule[]
  /** Whether questions of the turn can be answered: by its client, or because they are parked. */
  canAsk: boolean
}

/**
 * Returns a test for the tools to show in a turn. It excludes tools of which every call would be denied.
 *
 * A local turn is shown everything. An unattended one keeps the tools that a rule could allow, so that a
 * denied call tells the user which rule is missing.
 */
export function offerFilter({ trust, rules, canAsk }: OfferContext): (tool: OfferableTool) => boolean {
  const { never, edits, remembers, otherwise } = CLASS_RIGHTS[trust]
  if (trust === 'local') return () => true
  const forms = rulesFor(trust, rules)
    .filter(({ effect }) => effect === 'allow')
    .map(({ pattern }) => parseRule(pattern))
  const isAllowed = (tool: OfferableTool) => {
    const governor = GOVERNORS.get(tool.name)
    if (governor !== undefined) return forms.some(({ about }) => about === governor || about === 'everything')
    return forms.some((form) => matchesAction(form, toAction(tool), { context: NOWHERE, isGenerous: false }))
  }
  return (tool) => {
    if (tool.server !== undefined) return otherwise === 'ask' || isAllowed(tool)
    if (never.includes(tool.name)) return false
    if (tool.name === ASKING) return canAsk
    if (MEMORY.has(tool.name)) return remembers || isAllowed(tool)
    if (GOVERNORS.get(tool.name) === 'edit' && edits) return true
    return tool.readOnly === true || otherwise === 'ask' || isAllowed(tool)
  }
}

/**
 * Returns a test for the MCP tools that a rule denies whatever their arguments are: no mode and no answer of
 * a user can allow a call of them.
 */
export function deniedFilter({
  trust,
  rules,
}: Pick<OfferContext, 'trust' | 'rules'>): (tool: OfferableTool) => boolean {
  const forms = rulesFor(trust, rules)
    .filter(({ effect }) => effect === 'deny')
    .map(({ pattern }) => parseRule(pattern))
  return (tool) => {
    if (tool.server === undefined) return false
    return forms.some((form) => matchesAction(form, toAction(tool), { context: NOWHERE, isGenerous: true }))
  }
}

function toAction({ name, server, alias = name }: OfferableTool): PolicyAction {
  if (server !== undefined) return { kind: 'mcp', name, server, tool: alias }
  return { kind: 'tool', name, harmless: false }
}

/** Tools whose rules use another tool's name. */
const GOVERNORS: ReadonlyMap<string, 'edit' | 'bash'> = new Map([
  ['edit', 'edit'],
  ['write', 'edit'],
  ['bash', 'bash'],
])

const MEMORY: ReadonlySet<string> = new Set(['remember', 'forget', 'recall'])
const ASKING = 'ask_user'
/** A placeholder; no rule about a path is compared here. */
const NOWHERE = { workspace: '/', homeDir: '' }
