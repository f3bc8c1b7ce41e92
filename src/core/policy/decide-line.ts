import { lexShell, quoteWord } from '../base/shell-lexer.ts'
import { reachOf, reachWithValues } from './launchers.ts'
import { commandText } from './pattern.ts'
import { isRestricting, type ReadRule, rulesAbout } from './read-rules.ts'
import { withoutOptions } from './sub-commands.ts'
import { suggestCommand } from './suggest.ts'
import type { Decision, Rule, Setting } from './types.ts'
import { conclude, type Verdict } from './verdict.ts'

/**
 * A line of bash: each of its simple commands is judged alone, and what the strictest of them gets is what it gets.
 *
 * A line that cannot be split for sure matches no rule for some commands (decision 30): it may hide what they restrict,
 * so a rule for all of bash allows it only where there is no such rule.
 */
export function decideLine(line: string, rules: readonly ReadRule[], setting: Setting): Decision {
  const whole = rulesAbout({ kind: 'bash', command: line }, rules, setting)
  const lexed = lexShell(line)
  if ('opaque' in lexed) {
    const { matched, hidden } = findRestricting(line, rules, whole)
    const evidence = { matched, hidden, unseen: lexed.opaque }
    const { isOpen, ...verdict } = conclude({ kind: 'bash', command: line }, evidence, setting)
    return { ...verdict, suggestions: isOpen ? ['bash'] : [] }
  }
  const commands = lexed.commands.map((words) => words.map(({ text }) => text))
  const judged = commands.map((words) => ({ words, ...judge(words, { rules, whole, setting }) }))
  return combine(judged)
}

/** What restricts an opaque line for sure, and what may, where its commands are not to be seen. */
function findRestricting(line: string, rules: readonly ReadRule[], whole: readonly Rule[]) {
  const all = restrictingCommands(rules).filter((rule) => !whole.includes(rule))
  const lexed = all.length > 0 ? lexShell(line, { isLenient: true }) : { opaque: '' }
  if ('opaque' in lexed) return { matched: whole, hidden: all }
  const reaches = lexed.commands.map((words) => reachWithValues(words.map(({ text }) => text)))
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

function judge(
  words: readonly string[],
  { rules, whole, setting }: { rules: readonly ReadRule[]; whole: readonly Rule[]; setting: Setting },
): Verdict {
  const reach = reachOf(words)
  const [itself, started] = [[commandText(words)], reach.commands.flatMap(withoutOptions).map(commandText)]
  const about = rules.filter(({ rule, isAboutCommand }) => {
    return isAboutCommand !== undefined && (isRestricting(rule) ? started : itself).some(isAboutCommand)
  })
  const matched = [...new Set([...whole, ...about.map(({ rule }) => rule)])]
  const hidden = reach.isClear ? [] : restrictingCommands(rules).filter((rule) => !matched.includes(rule))
  const evidence = { matched, hidden, ...(!reach.isClear && { unseen: 'it starts what cannot be seen' }) }
  return conclude({ kind: 'bash', command: words.map(quoteWord).join(' ') }, evidence, setting)
}

/** The strictest verdict; the rules that are missing are those of the commands that are not allowed. */
function combine(judged: readonly (Verdict & { words: readonly string[] })[]): Decision {
  const strictest = ['deny', 'ask', 'allow'] as const
  const first = strictest.map((effect) => judged.find((one) => one.effect === effect)).find(Boolean)!
  const waiting = judged.filter(({ effect }) => effect !== 'allow')
  const isOpen = judged.every((one) => one.isOpen)
  const lacking = waiting.length > 0 ? waiting : judged
  const suggestions = new Set(isOpen ? lacking.map(({ words }) => suggestCommand(words)) : [])
  const { effect, rule, reason } = first
  const matched = [...new Set(judged.flatMap((one) => one.matched))]
  const commands = judged.map((one) => ({
    text: one.words.map(quoteWord).join(' '),
    asks: one.effect !== 'allow',
  }))
  return { effect, rule, matched, reason, suggestions: [...suggestions], commands }
}

/** Rules that take some commands away, all of which a line may hide. */
function restrictingCommands(rules: readonly ReadRule[]): Rule[] {
  const some = rules.filter(({ rule, isAboutCommand }) => isAboutCommand && isRestricting(rule))
  return some.map(({ rule }) => rule)
}
