import { join } from 'node:path'
import { quoteWord } from '../base/quote-word.ts'
import { lexShell, QUOTED_VALUE } from '../base/shell-lexer.ts'
import { allowsInner, plainInner } from './inner-rules.ts'
import { readsCommands } from './interpreters.ts'
import { findReach, findReachWithValues } from './launchers.ts'
import { isInside } from './paths.ts'
import { commandText } from './pattern.ts'
import { findClosing, hasSwitchedOff } from './read-only/closing-rule.ts'
import { showText } from './read-only/doubt.ts'
import { isRestricting, type ParsedRule, rulesAbout } from './read-rules.ts'
import { withoutOptions } from './sub-commands.ts'
import { isOfferable, suggestCommand } from './suggest.ts'
import type { Decision, PolicyAction, PolicyContext, ReadOnlyDoubt, ReadOnlyUse, Rule } from './types.ts'
import { conclude, type Evidence, type RuleVerdict } from './verdict.ts'

/** A command line that would run. */
type LineAction = Extract<PolicyAction, { kind: 'bash' }>

/**
 * A line of bash: each of its simple commands is judged alone, and what the strictest of them gets is what it gets.
 *
 * A line that cannot be split for sure matches no rule for some commands (decision 30): it may hide what they restrict,
 * so a rule for all of bash allows it only where there is no such rule.
 */
export function decideLine(
  { command: line, readOnly, doubts }: LineAction,
  rules: readonly ParsedRule[],
  setting: PolicyContext,
): Omit<Decision, 'warnings'> {
  const texts = rules.filter((one) => isRestricting(one.rule) && one.isAboutLine?.(line))
  const whole = [
    ...rulesAbout({ kind: 'bash', command: line }, rules, setting),
    ...texts.map(({ rule }) => rule),
  ]
  const lexed = lexShell(line)
  if ('opaque' in lexed) {
    const { matched, hidden } = findRestricting(line, rules, whole)
    const evidence = { matched, hidden, unseen: lexed.opaque }
    const { isOpen, ...verdict } = conclude({ kind: 'bash', command: line }, evidence, setting)
    return { ...verdict, suggestions: isOpen ? ['bash'] : [], offered: [] }
  }
  const commands = lexed.commands.map((words) => words.map(({ text }) => text))
  const isOff = hasSwitchedOff(rules)
  const judged = commands.map((words, i) => {
    const use = isOff ? undefined : readOnly?.[i]
    const doubt = isOff ? undefined : (doubts?.[i] ?? doubtAbove(use, rules, setting))
    const known = doubt === undefined ? { use } : { doubt }
    return {
      words,
      startsPrograms: doubt?.startsPrograms ?? false,
      ...judge(words, { rules, whole, setting, ...known }),
    }
  })
  return combine(judged)
}

/** What restricts an opaque line for sure, and what may, where its commands are not to be seen. */
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
  setting: PolicyContext
  use?: ReadOnlyUse | undefined
  doubt?: ReadOnlyDoubt | undefined
}

/** A repository above the working directory is read only where the turn may read that without being asked. */
function doubtAbove(
  use: ReadOnlyUse | undefined,
  rules: readonly ParsedRule[],
  setting: PolicyContext,
): ReadOnlyDoubt | undefined {
  const top = use && topAbove(use, setting)
  if (top === undefined) return undefined
  const reading = { kind: 'read', path: join(top, '.git'), shown: top } as const
  const matched = rulesAbout(reading, rules, setting)
  if (conclude(reading, { matched, hidden: [] }, setting).effect === 'allow') return undefined
  const why = `git reads the repository of ${showText(top)}, outside of the working directory, and no rule allows reading there`
  return { why, startsPrograms: false }
}

/** The top folder of the repository that git reads, where it lies above the working directory. */
function topAbove({ repository }: ReadOnlyUse, { workspace }: PolicyContext): string | undefined {
  return repository !== undefined && !isInside(workspace, repository) ? repository : undefined
}

function judge(words: readonly string[], judging: Judging): RuleVerdict {
  const { rules, whole, setting, use, doubt } = judging
  const reach = findReach(words)
  const [itself, started] = [[commandText(words)], reach.commands.flatMap(withoutOptions).map(commandText)]
  const about = rules.filter(({ rule, isAboutCommand }) => {
    return isAboutCommand !== undefined && (isRestricting(rule) ? started : itself).some(isAboutCommand)
  })
  const withheld = findWithheld(words, about, judging)
  const holding = about.filter((one) => !withheld.includes(one))
  const matched = [...new Set([...whole, ...holding.map(({ rule }) => rule)])]
  const hidden = reach.isClear ? [] : restrictingCommands(rules).filter((rule) => !matched.includes(rule))
  const evidence: Evidence = {
    matched,
    hidden,
    withheld: withheld[0]?.rule,
    ...(!reach.isClear && { unseen: 'it starts what cannot be seen' }),
    doubt: doubt?.why,
    ...(use && {
      builtIn: use.form,
      readsIn: topAbove(use, setting),
      closing: findClosing(use, rules, setting),
    }),
  }
  return conclude({ kind: 'bash', command: words.map(quoteWord).join(' ') }, evidence, setting)
}

/** Rules that allow a command and not what it starts, where no other rule allows that. */
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

/** The verdict about one command; `startsPrograms`: it may start what files of the project name. */
type JudgedWords = RuleVerdict & { words: readonly string[]; startsPrograms: boolean }

/**
 * The strictest verdict, by a rule rather than by a built-in form; the rules that are missing are those of the commands
 * that are not allowed.
 */
function combine(judged: readonly JudgedWords[]): Omit<Decision, 'warnings'> {
  const strictest = ['deny', 'ask', 'allow'] as const
  const effect = strictest.find((one) => judged.some((verdict) => verdict.effect === one))!
  const deciding = judged.filter((one) => one.effect === effect)
  const first = deciding.find((one) => one.rule !== undefined) ?? deciding[0]!
  const waiting = judged.filter(({ effect }) => effect !== 'allow')
  const isOpen = judged.every((one) => one.isOpen && !readsCommands(one.words))
  const lacking = waiting.length > 0 ? waiting : judged
  const isSafe = !lacking.some(({ startsPrograms }) => startsPrograms) // else a rule would allow what the project names
  const suggestions = [...new Set(isOpen && isSafe ? lacking.map(({ words }) => suggestCommand(words)) : [])]
  const { rule, reason, builtIn } = first
  const matched = [...new Set(judged.flatMap((one) => one.matched))]
  const commands = judged.map((one) => ({
    text: one.words.map(quoteWord).join(' '),
    asks: one.effect !== 'allow',
  }))
  return {
    effect,
    rule,
    matched,
    reason,
    ...(builtIn && { builtIn }),
    suggestions,
    offered: lacking.every(({ words }) => isOfferable(words)) ? suggestions : [],
    commands,
  }
}

/** Rules that take some commands away, all of which a line may hide. */
function restrictingCommands(rules: readonly ParsedRule[]): Rule[] {
  const some = rules.filter(({ rule, isAboutCommand }) => isAboutCommand && isRestricting(rule))
  return some.map(({ rule }) => rule)
}
