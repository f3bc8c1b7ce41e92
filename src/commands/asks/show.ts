import { permissionCard } from '../../cli/ask/card.ts'
import { choiceLines } from '../../cli/ask/choice.ts'
import { labelRows, quoteWithBar, type TerminalStyle } from '../../cli/ask/layout.ts'
import { planText } from '../../cli/ask/plan.ts'
import { colorize } from '../../cli/color.ts'
import { shortId } from '../../cli/find-conversation.ts'
import { toAskOpened } from '../../cli/turn/stream-json-sink.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { isWindowSender, namePair } from '../../core/base/sender-class.ts'
import { escapeLine, toVisible } from '../../core/base/visible.ts'
import { AskKind, type AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { optionKeys } from '../../core/questions/option-keys.ts'
import type { WaitingAsk } from './find.ts'
import type { TitledAsk } from './titles.ts'

/**
 * Renders a question for the inbox: who asked it and when, everything needed to answer it, and how. Every
 * line ends with a line break.
 */
export function askText(info: TitledAsk, { style, now }: { style: TerminalStyle; now: number }): string {
  const { ask, agent, openedAt } = info
  const id = shortId(ask.askId)
  const who = escapeLine(describeConversation(info))
  const head = [colorize(id, 'bold', style.color), who, relativeTime(openedAt, now), askKindName(info)].join(
    '  ',
  )
  const [first] = ask.questions
  if (ask.permission && first) {
    const card = permissionCard(ask.permission, { agent, style, whole: true })
    const choices = choiceLines(first, { rules: ask.permission.rules, agent }, style)
    return `${head}\n${card}${choices}crabtalk answer ${id} NUMBER\n`
  }
  if (ask.kind === AskKind.PLAN && first) {
    return `${head}\n${planText(first, style)}crabtalk answer ${id} NUMBER, or "3 WHAT TO CHANGE"\n`
  }
  const cards = ask.questions.map((question) => questionLines(question, ask.kind, style))
  const places =
    ask.questions.length === 1 ? 'ANSWER' : ask.questions.map((_, at) => `ANSWER${at + 1}`).join(' ')
  return `${head}\n${cards.join('')}crabtalk answer ${id} ${places}\n`
}

/** Names the conversation by its address and title; an address that a window made up says nothing to a reader. */
function describeConversation({ agent, sender, title }: TitledAsk): string {
  if (title === '') return namePair({ agent, sender })
  return `${isWindowSender(sender) ? agent : `${agent}/${sender}`} · ${title}`
}

/** Renders a question with its options and the key of each option. */
function questionLines(
  { question, options, multiSelect }: AskQuestion,
  kind: AskKind,
  style: TerminalStyle,
): string {
  const keys = optionKeys(options, kind)
  const rows = options.flatMap(({ label, description }, at) => {
    const about = description === '' ? label : `${label} · ${description}`
    return labelRows(keys[at]!, escapeLine(about), style)
  })
  const how = multiSelect ? [colorize('one or several, such as 1,2', 'dim', style.color)] : []
  const lines = [
    ...quoteWithBar(toVisible(question), { style, maxRows: Number.POSITIVE_INFINITY }),
    ...rows,
    ...how,
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** Converts a question to its JSON form. */
export function toAskJson(info: TitledAsk) {
  const { ask, agent, sender, session, title, runId, openedAt } = info
  const { type: _, ask: id, ...record } = toAskOpened(ask)
  return { id, agent, sender, session, title, run: runId, opened_at: openedAt, ...record }
}

function askKindName({ ask: { kind } }: WaitingAsk): string {
  return KIND_NAMES.get(kind) ?? 'question'
}

const KIND_NAMES: ReadonlyMap<AskKind, string> = new Map([
  [AskKind.PERMISSION, 'permission'],
  [AskKind.ELICITATION, 'server'],
  [AskKind.TRUST, 'trust'],
  [AskKind.PLAN, 'plan'],
])
