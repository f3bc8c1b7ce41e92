import { join } from 'node:path'
import { quoteWord } from '../base/quote-word.ts'
import { lexShell, QUOTED_VALUE } from '../base/shell-lexer.ts'
import { findCredentialCommand, findCredentialText } from './credential-commands.ts'
import { allowsInner, plainInner } from './inner-rules.ts'
import { readsCommands } from './interpreters.ts'
import { findReach, findReachWithValues } from './launchers.ts'
import { isInside } from './paths.ts'
import { commandText } from './pattern.ts'
import { findClosing, hasSwitchedOff } from './read-only/closing-rule.ts'
import { CHANGED_BEFORE, showText } from './read-only/doubt.ts'
import { isRestricting, type ParsedRule, rulesAbout } from './read-rules.ts'
import { withoutOptions } from './sub-commands.ts'
import { type CommandOffer, findOffer, suggestCommand } from './suggest.ts'
import type { Decision, PolicyAction, PolicyContext, ReadOnlyDoubt, ReadOnlyUse, Rule } from './types.ts'
import { conclude, type Evidence, type RuleVerdict } from './verdict.ts'

/** A bash command line to be judged. */
type LineAction = Extract<PolicyAction, { kind: 'bash' }>

/**
 * Decides about a bash line. Each of its simple commands is judged separately, and the strictest verdict
 * applies to the line.
 *
 * A line that cannot be split reliably matches no rule for some commands (ADR 0071). Since it may hide a
 * restricted command, a rule for all of bash allows it only when no such restriction exists.
 */
export function decideLine(
  { command: line, readOnly, doubts }: LineAction,
  rules: readonly ParsedRule[],
  context: PolicyContext,
): Omit<Decision, 'warnings'> {
  const texts = rules.filter((one) => isRestricting(one.rule) && one.isAboutLine?.(line))
  const whole = [
    ...rulesAbout({ kind: 'bash', command: line }, rules, context),
    ...texts.map(({ rule }) => rule),
  ]
  const lexed = lexShell(line)
  if ('opaque' in lexed) {
    const { matched, hidden } = findRestricting(line, rules, whole)
    const evidence = { matched, hidden, unseen: lexed.opaque, credentials: findCredentialText(line) }
    const { isOpen, ...verdict } = conclude({ kind: 'bash', command: line }, evidence, context)
    return { ...verdict, suggestions: isOpen ? ['bash'] : [], offered: [], isSavable: false }
  }
  const commands = lexed.commands.map((words) => words.map(({ text }) => text))
  const isOff = hasSwitchedOff(rules)
  const verdicts = commands.map((words, i) => {
    const use = isOff ? undefined : readOnly?.[i]
    const doubt = isOff ? undefined : (doubts?.[i] ?? doubtAbove(use, rules, context))
    const facts = doubt === undefined ? { use } : { doubt }
    return {
      words,
      startsPrograms: doubt?.startsPrograms ?? false,
      isAllowedAlone: isOff ? false : isAllowedAlone(words, { rules, whole, context, doubt: doubts?.[i] }),
      ...judge(words, { rules, whole, context, ...facts }),
    }
  })
  return combine(verdicts)
}

/**
 * Returns the rules that certainly restrict an opaque line, and those that may, where its commands are
 * unknown.
 */
function findRestricting(line: string, rules: readonly ParsedRule[], whole: readonly Rule[]) {
  const all = restrictingCommands(rules).filter((rule) => !whole.includes(rule))
  const lexed = all.length > 0 ? lexShell(line, { isLenient: true }) : { opaque: '' }
  if ('opaque' in lexed) return { matched: whole, hidden: all }
  const reaches = lexed.commands.map((words) => findReachWithValues(words.map(({ text }) => text)))
  if (!reaches.every(({ isClear }) => isClear)) return { matched: whole, hidden: all }
  const texts = reaches.flatMap(({ commands }) => commands.flatMap(withoutOptions).map(commandText))
  const about = rules.filter(({ rule }) => all.includes(rule))
  const [sure, possible] = [
    about.filter((one) => texts.some(one.isAboutCommand!)),
    about.filter((one) => texts.some(one.mayBeAboutCommand!)),
  ]
  const matched = [...whole, ...sure.map(({ rule }) => rule)]
  return { matched, hidden: possible.map(({ rule }) => rule).filter((rule) => !matched.includes(rule)) }
}

interface Judging {
  rules: readonly ParsedRule[]
  /** Rules about the line as a whole. */
  whole: readonly Rule[]
  context: PolicyContext
  use?: ReadOnlyUse | undefined
  doubt?: ReadOnlyDoubt | undefined
}

/**
 * Returns a doubt when git would read a repository above the working directory and the turn may not read
 * there without asking.
 */
function doubtAbove(
  use: ReadOnlyUse | undefined,
  rules: readonly ParsedRule[],
  context: PolicyContext,
): ReadOnlyDoubt | undefined {
  const top = (use === undefined ? [] : topsOutside(use, context)).find((one) => {
    const reading = { kind: 'read', path: join(one, '.git'), shown: one } as const
    const matched = rulesAbout(reading, rules, context)
    return conclude(reading, { matched, hidden: [] }, context).effect !== 'allow'
  })
  if (top === undefined) return undefined
  const why = `git reads the repository of ${showText(top)}, outside the working directory, and no rule allows reading there`
  return { why, startsPrograms: false }
}

/** Returns the top folders of the repositories that git may read outside of the working directory. */
function topsOutside({ repositories = [] }: ReadOnlyUse, { workspace }: PolicyContext): readonly string[] {
  return repositories.filter((top) => !isInside(workspace, top))
}

/** Returns the folder that a command reads in, if that is not the working directory. */
function findReadsIn(use: ReadOnlyUse, context: PolicyContext): string | undefined {
  const [top] = topsOutside(use, context)
  if (top !== undefined) return top
  const { workspace, roots = [] } = context
  const path = use.paths.find((one) => !isInside(workspace, one))
  return path === undefined ? undefined : roots.find((root) => isInside(root, path))
}

/** Whether a command asks only because of the other commands of its line. */
function isAllowedAlone(words: readonly string[], { doubt, ...judging }: Judging): boolean {
  if (doubt?.alone === undefined) return doubt?.why === CHANGED_BEFORE
  const above = doubtAbove(doubt.alone, judging.rules, judging.context)
  return above === undefined && judge(words, { ...judging, use: doubt.alone }).effect === 'allow'
}

function judge(words: readonly string[], judging: Judging): CommandVerdict {
  const { rules, whole, context, use, doubt } = judging
  const reach = findReach(words)
  const [itself, startedTexts] = [
    [commandText(words)],
    reach.commands.flatMap(withoutOptions).map(commandText),
  ]
  const about = rules.filter(({ rule, isAboutCommand }) => {
    return isAboutCommand !== undefined && (isRestricting(rule) ? startedTexts : itself).some(isAboutCommand)
  })
  const withheld = findWithheld(words, about, judging)
  const holding = about.filter((one) => !withheld.includes(one))
  const matched = [...new Set([...whole, ...holding.map(({ rule }) => rule)])]
  const hidden = reach.isClear ? [] : restrictingCommands(rules).filter((rule) => !matched.includes(rule))
  const evidence: Evidence = {
    matched,
    hidden,
    withheld: withheld[0]?.rule,
    credentials: findCredentialCommand(words),
    ...(!reach.isClear && { unseen: 'what it starts cannot be determined' }),
    doubt: doubt?.why,
    ...(use && {
      builtIn: use.form,
      readsIn: findReadsIn(use, context),
      closing: findClosing(use, rules, context),
    }),
  }
  const verdict = conclude({ kind: 'bash', command: words.map(quoteWord).join(' ') }, evidence, context)
  const { rule, effect } = verdict
  const reasons = [rule, doubt, evidence.withheld, evidence.closing, evidence.unseen, evidence.credentials]
  const isExplained = reasons.some(Boolean)
  return { ...verdict, lacksRule: effect === 'ask' && !isExplained }
}

/** The verdict about a command; `lacksRule` when it asks for no other reason than that no rule allows it. */
type CommandVerdict = RuleVerdict & { lacksRule: boolean }

/** Returns the rules that allow a command but not what it starts, unless another rule allows that. */
function findWithheld(
  words: readonly string[],
  about: readonly ParsedRule[],
  judging: Judging,
): readonly ParsedRule[] {
  const narrow = about.filter(({ rule, forms: [form] }) => {
    return rule.effect === 'allow' && form?.about === 'bash' && !allowsInner(form.words ?? [], words)
  })
  const inner = narrow.length === 0 ? undefined : plainInner(words, QUOTED_VALUE)
  const isAllowed =
    inner !== undefined && judge(inner, { ...judging, use: undefined, doubt: undefined }).effect === 'allow'
  return isAllowed ? [] : narrow
}

/**
 * The verdict about one command. `startsPrograms` is true when it may start programs that project files name,
 * `isAllowedAlone` when it asks only because of the other commands.
 */
type JudgedWords = CommandVerdict & {
  words: readonly string[]
  startsPrograms: boolean
  isAllowedAlone: boolean
}

/**
 * Combines verdicts: the strictest applies, preferably one with a rule over one with a built-in form. The
 * suggested rules are those for the commands that are not allowed.
 */
function combine(verdicts: readonly JudgedWords[]): Omit<Decision, 'warnings'> {
  const strictest = ['deny', 'ask', 'allow'] as const
  const effect = strictest.find((one) => verdicts.some((verdict) => verdict.effect === one))!
  const deciding = verdicts.filter((one) => one.effect === effect)
  const first = deciding.find((one) => one.rule !== undefined) ?? deciding[0]!
  const pending = verdicts.filter(({ effect }) => effect !== 'allow')
  const isOpen = verdicts.every((one) => one.isOpen && !readsCommands(one.words))
  const lacking = pending.length > 0 ? pending : verdicts
  // No rule is suggested that would allow programs which the project names.
  const isSafe = !lacking.some(({ startsPrograms }) => startsPrograms)
  const suggestions = [...new Set(isOpen && isSafe ? lacking.map(({ words }) => suggestCommand(words)) : [])]
  const { rule, reason, builtIn } = first
  const matched = [...new Set(verdicts.flatMap((one) => one.matched))]
  const commands = verdicts.map((one) => ({
    text: one.words.map(quoteWord).join(' '),
    asks: one.effect !== 'allow',
    reason: one.effect === 'allow' ? '' : describeAsking(one),
  }))
  // A command that is allowed by itself needs no rule: the line asks because of the others.
  const needy = lacking.filter(({ isAllowedAlone }) => !isAllowedAlone)
  const rules = suggestions.length === 0 ? [] : [...new Set(needy.map(({ words }) => suggestCommand(words)))]
  const offers = needy.map(findOfferFor)
  return {
    effect,
    rule,
    matched,
    reason,
    ...(builtIn && { builtIn }),
    suggestions,
    offered: offers.some(({ lasts }) => lasts === 'once') ? [] : rules,
    isSavable: offers.every(({ lasts }) => lasts === 'always'),
    commands,
  }
}

/** Returns what to offer for a command. Code that may start what its words do not show is not offered. */
function findOfferFor({ words, lacksRule }: JudgedWords): CommandOffer {
  const offer = findOffer(words)
  return offer.lasts === 'session' && !lacksRule ? { ...offer, lasts: 'once' } : offer
}

/** Returns why a command asks, or why no rule that lasts is offered for it. */
function describeAsking(one: JudgedWords): string {
  const { lasts, why } = findOfferFor(one)
  if (!one.lacksRule || why === undefined) return one.reason
  return `${lasts === 'once' ? 'no rule' : 'no lasting rule'}: ${why}`
}

/** Returns the rules that restrict some commands, all of which a line may hide. */
function restrictingCommands(rules: readonly ParsedRule[]): Rule[] {
  const restricting = rules.filter(({ rule, isAboutCommand }) => isAboutCommand && isRestricting(rule))
  return restricting.map(({ rule }) => rule)
}
