import { sep } from 'node:path'
import { takeStart } from '../base/truncate.ts'
import { CLASS_RIGHTS } from './class-rights.ts'
import { isInside, isInWorkspace } from './paths.ts'
import type { ApprovalMode, Decision, EditGuard, PolicyAction, PolicyContext, Rule } from './types.ts'

/** The rules and facts about an action on which a verdict is based. */
export interface Evidence {
  matched: readonly Rule[]
  /** Restricting rules that may match a part of the action that cannot be analyzed. */
  hidden: readonly Rule[]
  /** The reason why that part cannot be analyzed, as a clause. */
  unseen?: string
  /** The form of a command that is known to change nothing. */
  builtIn?: string
  /** The folder that it reads in, if that is not the working directory. */
  readsIn?: string | undefined
  /** The rule about reading that prevents such a command from running without confirmation. */
  closing?: Rule | undefined
  /** The reason why a command with such a form needs confirmation after all, as a clause. */
  doubt?: string | undefined
  /** A rule that allows a command but not the command that it starts. */
  withheld?: Rule | undefined
  /** A stored rule that allows a tool, but not of a server that a project's file declares. */
  stored?: Rule | undefined
  /** The command of crabtalk that prints or changes credentials or trust. */
  credentials?: string | undefined
}

/** A decision, and whether an additional allow rule would turn it into `allow`. */
export type RuleVerdict = Omit<Decision, 'suggestions' | 'offered' | 'isSavable' | 'warnings'> & {
  isOpen: boolean
}

/**
 * Decides by the matching rules (deny before ask before allow), then by the mode, the class of the turn, and
 * the default without a rule (ADR 0071).
 */
export function conclude(action: PolicyAction, evidence: Evidence, context: PolicyContext): RuleVerdict {
  const { matched } = evidence
  const [denial, question, permit] = (['deny', 'ask', 'allow'] as const).map((effect) =>
    matched.find((rule) => rule.effect === effect),
  )
  const closed = { matched, isOpen: false }
  if (denial) return { effect: 'deny', rule: denial, reason: describe(denial), ...closed }
  const limit = findLimit(action, context, evidence)
  if (limit !== undefined) return { effect: 'deny', rule: undefined, reason: limit, ...closed }
  if (evidence.credentials !== undefined) return { ...closed, ...decideCredentials(evidence, context) }
  const guard = action.kind === 'edit' ? action.guard : undefined
  const isAll = allowsAll(context) && guard?.isAlways !== true
  if (question && !isAll) return { effect: 'ask', rule: question, reason: describe(question), ...closed }
  const hidden = evidence.hidden.find(({ effect }) => effect === 'deny' || !isAll)
  if (!permit && !isAll) {
    return { rule: undefined, matched, isOpen: !hidden, ...decideByDefault(action, evidence, context) }
  }
  if (hidden) {
    const reason = `${evidence.unseen}, and could hide something a rule covers: ${describe(hidden)}`
    return { effect: 'ask', rule: hidden, reason, ...closed }
  }
  const reason = permit ? describe(permit) : 'this turn may do anything that no rule denies'
  return { effect: 'allow', rule: permit, matched, reason, isOpen: true }
}

/** Whether a turn may do everything that no rule denies. */
export function allowsAll({ mode, trust }: PolicyContext): boolean {
  return mode === 'all' && CLASS_RIGHTS[trust].canWiden
}

/** Returns the reason why neither a rule nor a mode can permit the action; undefined when one can. */
function findLimit(
  action: PolicyAction,
  { trust, mode }: PolicyContext,
  { builtIn, closing, doubt }: Evidence,
): string | undefined {
  const tool = action.kind === 'tool' ? action.name : action.kind
  if (CLASS_RIGHTS[trust].never.includes(tool)) return `${A_TURN[trust]} never uses ${tool}`
  const isReading = builtIn !== undefined && closing === undefined
  const isHarmless = isReading || action.kind === 'read' || (action.kind === 'tool' && action.harmless)
  const limit = isHarmless ? undefined : READING_MODES.get(mode)
  return limit === undefined || doubt === undefined ? limit : `${limit}, and ${doubt}`
}

/** The modes in which a turn may only read, with the reason for a refusal. */
const READING_MODES: ReadonlyMap<ApprovalMode, string> = new Map([
  ['read-only', 'this turn may only read'],
  ['plan', 'plan mode: this turn may only read until its plan is accepted'],
])

/** Decides when no rule matches. */
function decideByDefault(
  action: PolicyAction,
  evidence: Evidence,
  { trust, mode, workspace, roots, readable }: PolicyContext,
): Pick<Decision, 'effect' | 'reason' | 'builtIn'> {
  const { builtIn, closing, readsIn = 'the working directory' } = evidence
  if (builtIn !== undefined && closing === undefined) {
    return { effect: 'allow', builtIn, reason: `${builtIn} only reads in ${readsIn}` }
  }
  const isHome = 'path' in action && isInWorkspace({ workspace, ...(roots && { roots }) }, action.path)
  if (action.kind === 'edit' && action.guard) return decideGuarded(action.guard, action.path, trust)
  if (action.kind === 'read') {
    if (isHome) return { effect: 'allow', reason: 'it reads in the working directory' }
    const isOwn = readable.some((folder) => isInside(folder, action.path))
    if (isOwn) return { effect: 'allow', reason: 'it reads the output a tool wrote for this conversation' }
  }
  const rights = CLASS_RIGHTS[trust]
  const edits = rights.edits || (rights.canWiden && mode === 'edits')
  if (action.kind === 'edit' && isHome && edits) {
    return { effect: 'allow', reason: 'it changes a file in the working directory' }
  }
  if (action.kind === 'tool' && action.own) return decideMemory(trust)
  if (action.kind === 'tool' && action.harmless) return { effect: 'allow', reason: 'it changes nothing' }
  if (rights.otherwise === 'deny') return { effect: 'deny', reason: `no rule of [${rights.table}] allows it` }
  return { effect: 'ask', reason: describeMissingRule(action, evidence, isHome) }
}

/**
 * Decides about a protected path. Only a rule that names it permits it; modes and the class of the turn do
 * not.
 */
function decideGuarded(
  { name, isAlways }: EditGuard,
  path: string,
  trust: PolicyContext['trust'],
): Pick<Decision, 'effect' | 'reason'> {
  const who = isAlways ? 'no rule allows' : 'only a rule that names it can allow'
  const actualName = path.split(sep).find((segment) => segment.normalize('NFC').toLowerCase() === name)
  const reason = `${actualName ?? name} is a protected path, which ${who}`
  return { effect: CLASS_RIGHTS[trust].otherwise === 'deny' ? 'deny' : 'ask', reason }
}

/** Decides about a command that prints or changes credentials or trust: only the user who is asked permits it. */
function decideCredentials(
  { credentials }: Evidence,
  { trust }: PolicyContext,
): Pick<RuleVerdict, 'effect' | 'rule' | 'reason'> {
  const reason = `${credentials} is about credentials or trust, which no rule allows`
  return { effect: trust === 'local' ? 'ask' : 'deny', rule: undefined, reason }
}

/**
 * Decides about memory. An agent's memory covers everyone it talks to, so an untrusted turn may neither read
 * nor change it.
 */
function decideMemory(trust: PolicyContext['trust']): Pick<Decision, 'effect' | 'reason'> {
  if (!CLASS_RIGHTS[trust].remembers) {
    return { effect: 'deny', reason: `${A_TURN[trust]} cannot use the agent's memory` }
  }
  return { effect: 'allow', reason: "it is the agent's own memory" }
}

/** Describes which rule is missing. */
function describeMissingRule(
  action: PolicyAction,
  { unseen, closing, doubt, withheld, stored }: Evidence,
  isHome: boolean,
): string {
  if (closing) return `it may read something a rule covers: ${describe(closing)}`
  if (withheld) return `${describe(withheld)}, but no rule allows what it starts`
  if (stored)
    return `${describe(stored)}, but no stored rule allows tools of a server that a project declares`
  if (doubt) return doubt
  if (action.kind === 'bash') {
    return unseen === undefined
      ? `no rule allows ${takeStart(action.command, MAX_SHOWN)}`
      : `${unseen}, and no rule for single commands can allow such a line`
  }
  if (action.kind === 'read') return 'it reads outside the working directory'
  if (action.kind === 'edit') return `it changes a file ${isHome ? 'in' : 'outside'} the working directory`
  return 'no rule allows it'
}

function describe({ effect, pattern, source }: Rule): string {
  const verb = { allow: 'allows', ask: 'asks about', deny: 'denies' }[effect]
  return `${source} ${verb} ${pattern}`
}

const A_TURN = { local: 'a local turn', unattended: 'an unattended turn', remote: 'a remote turn' } as const

/** The maximum number of UTF-16 units of a command in a reason. */
const MAX_SHOWN = 80
