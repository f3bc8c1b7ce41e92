import { sep } from 'node:path'
import { takeStart } from '../base/truncate.ts'
import { CLASS_RIGHTS } from './class-rights.ts'
import { isInside } from './paths.ts'
import type { Decision, EditGuard, PolicyAction, PolicyContext, Rule } from './types.ts'

/** What the rules have to say of an action. */
export interface Evidence {
  matched: readonly Rule[]
  /** Rules that restrict and may be about a part of it that nobody can see. */
  hidden: readonly Rule[]
  /** Why that part cannot be seen, as a clause. */
  unseen?: string
  /** The form of a command that is known to change nothing, and the rule about reading that keeps it from running unasked. */
  builtIn?: string
  /** The folder that it reads in, if that is not the working directory. */
  readsIn?: string | undefined
  closing?: Rule | undefined
  /** The reason to ask about a command that has such a form all the same, as a clause. */
  doubt?: string | undefined
  /** A rule that allows a command which starts another, and not that one. */
  withheld?: Rule | undefined
}

/** A decision, and whether a rule that allows would make it one to allow. */
export type RuleVerdict = Omit<Decision, 'suggestions' | 'offered' | 'warnings'> & { isOpen: boolean }

/** Deny over ask over allow; then the mode, the class of the turn, and what holds when no rule matches (decision 29). */
export function conclude(action: PolicyAction, evidence: Evidence, setting: PolicyContext): RuleVerdict {
  const { matched } = evidence
  const [denial, question, permit] = (['deny', 'ask', 'allow'] as const).map((effect) =>
    matched.find((rule) => rule.effect === effect),
  )
  const closed = { matched, isOpen: false }
  if (denial) return { effect: 'deny', rule: denial, reason: describe(denial), ...closed }
  const limit = findLimit(action, setting, evidence)
  if (limit !== undefined) return { effect: 'deny', rule: undefined, reason: limit, ...closed }
  const guard = action.kind === 'edit' ? action.guard : undefined
  const isAll = allowsAll(setting) && guard?.isAlways !== true
  if (question && !isAll) return { effect: 'ask', rule: question, reason: describe(question), ...closed }
  const hidden = evidence.hidden.find(({ effect }) => effect === 'deny' || !isAll)
  if (!permit && !isAll) {
    return { rule: undefined, matched, isOpen: !hidden, ...decideByDefault(action, evidence, setting) }
  }
  if (hidden) {
    const reason = `${evidence.unseen}, and could hide what a rule is about: ${describe(hidden)}`
    return { effect: 'ask', rule: hidden, reason, ...closed }
  }
  const reason = permit ? describe(permit) : 'this turn may do whatever no rule denies'
  return { effect: 'allow', rule: permit, matched, reason, isOpen: true }
}

/** Whether a turn may do whatever no rule denies. */
export function allowsAll({ mode, trust }: PolicyContext): boolean {
  return mode === 'all' && CLASS_RIGHTS[trust].canWiden
}

/** What no rule and no mode permits. */
function findLimit(
  action: PolicyAction,
  { trust, mode }: PolicyContext,
  { builtIn, closing, doubt }: Evidence,
): string | undefined {
  const tool = action.kind === 'tool' ? action.name : action.kind
  if (CLASS_RIGHTS[trust].never.includes(tool)) return `${A_TURN[trust]} never uses ${tool}`
  const isReading = builtIn !== undefined && closing === undefined
  const isHarmless = isReading || action.kind === 'read' || (action.kind === 'tool' && action.harmless)
  if (mode !== 'read-only' || isHarmless) return undefined
  return doubt === undefined ? 'this turn only reads' : `this turn only reads, and ${doubt}`
}

/** What holds when no rule matches. */
function decideByDefault(
  action: PolicyAction,
  evidence: Evidence,
  { trust, mode, workspace, readable }: PolicyContext,
): Pick<Decision, 'effect' | 'reason' | 'builtIn'> {
  const { builtIn, closing, readsIn = 'the working directory' } = evidence
  if (builtIn !== undefined && closing === undefined) {
    return { effect: 'allow', builtIn, reason: `${builtIn} only reads in ${readsIn}` }
  }
  const isHome = 'path' in action && isInside(workspace, action.path)
  if (action.kind === 'edit' && action.guard) return decideGuarded(action.guard, action.path, trust)
  if (action.kind === 'read') {
    if (isHome) return { effect: 'allow', reason: 'it reads in the working directory' }
    const isOwn = readable.some((folder) => isInside(folder, action.path))
    if (isOwn) return { effect: 'allow', reason: 'it reads what a tool wrote for this conversation' }
  }
  const rights = CLASS_RIGHTS[trust]
  const edits = rights.edits || (rights.canWiden && mode === 'edits')
  if (action.kind === 'edit' && isHome && edits) {
    return { effect: 'allow', reason: 'it changes a file of the working directory' }
  }
  if (action.kind === 'tool' && action.own) return decideMemory(trust)
  if (action.kind === 'tool' && action.harmless) return { effect: 'allow', reason: 'it changes nothing' }
  if (rights.otherwise === 'deny') return { effect: 'deny', reason: `no rule of [${rights.table}] allows it` }
  return { effect: 'ask', reason: describeMissingRule(action, evidence, isHome) }
}

/** Neither a mode nor the class of a turn permits it; a rule that names it does. */
function decideGuarded(
  { name, isAlways }: EditGuard,
  path: string,
  trust: PolicyContext['trust'],
): Pick<Decision, 'effect' | 'reason'> {
  const who = isAlways ? 'no rule allows' : 'only a rule that names it allows'
  const written = path.split(sep).find((segment) => segment.normalize('NFC').toLowerCase() === name)
  const reason = `${written ?? name} is a protected path, which ${who}`
  return { effect: CLASS_RIGHTS[trust].otherwise === 'deny' ? 'deny' : 'ask', reason }
}

/** An agent remembers for everyone it talks to; an untrusted turn neither reads nor changes that. */
function decideMemory(trust: PolicyContext['trust']): Pick<Decision, 'effect' | 'reason'> {
  if (!CLASS_RIGHTS[trust].remembers) {
    return { effect: 'deny', reason: `${A_TURN[trust]} has no part in the agent's memory` }
  }
  return { effect: 'allow', reason: 'it is what the agent itself remembers' }
}

/** What there is no rule for. */
function describeMissingRule(
  action: PolicyAction,
  { unseen, closing, doubt, withheld }: Evidence,
  isHome: boolean,
): string {
  if (closing) return `it may read what a rule is about: ${describe(closing)}`
  if (withheld) return `${describe(withheld)}, but no rule allows what it starts`
  if (doubt) return doubt
  if (action.kind === 'bash') {
    return unseen === undefined
      ? `no rule allows ${takeStart(action.command, MAX_SHOWN)}`
      : `${unseen}, and no rule for single commands can allow such a line`
  }
  if (action.kind === 'read') return 'it reads outside of the working directory'
  if (action.kind === 'edit') return `it changes a file ${isHome ? 'of' : 'outside of'} the working directory`
  return 'no rule allows it'
}

function describe({ effect, pattern, source }: Rule): string {
  const verb = { allow: 'allows', ask: 'asks about', deny: 'denies' }[effect]
  return `${source} ${verb} ${pattern}`
}

const A_TURN = { local: 'a local turn', unattended: 'an unattended turn', remote: 'a remote turn' } as const

/** UTF-16 units of a command in a reason. */
const MAX_SHOWN = 80
