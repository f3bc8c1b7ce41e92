import { headOf } from '../../core/base/cut.ts'
import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import {
  AskKind,
  type AskQuestion,
  type AskUserEvent,
  type PermissionRequest,
} from '../../core/protocol/crabtalk.generated.ts'
import { denialOf } from '../../tui/cards/permission-answer.ts'
import { visibleLine } from '../../tui/cards/subject.ts'
import type { Terminal } from '../host.ts'
import { permissionCard } from './card.ts'
import { choiceHelp, choiceLine, readChoice } from './choice.ts'
import type { Style } from './layout.ts'
import { questionText, readAnswer } from './question.ts'

/** Where a person is asked, and for whom. */
export interface Dialog {
  terminal: Pick<Terminal, 'output' | 'readLine'>
  style: Style
  agent: string
}

/** From question to answer, as reply_to_ask takes it. */
export type Answers = Record<string, string>

/**
 * Puts all questions of an ask to a person, one after the other.
 *
 * The end of input (Ctrl-D) refuses a permission, and leaves this and all further questions with an empty answer.
 */
export async function converse(ask: AskUserEvent, dialog: Dialog, signal: AbortSignal): Promise<Answers> {
  const { permission, questions } = ask
  const first = questions[0]
  if (permission && first) {
    return { [first.question]: await askPermission({ permission, question: first }, dialog, signal) }
  }
  const answers: Answers = Object.fromEntries(questions.map(({ question }) => [question, '']))
  for (const question of questions) {
    const answer = await askQuestion({ question, kind: ask.kind }, dialog, signal)
    if (answer === undefined) break
    answers[question.question] = answer
  }
  return answers
}

async function askPermission(
  { permission, question }: { permission: PermissionRequest; question: AskQuestion },
  dialog: Dialog,
  signal: AbortSignal,
): Promise<string> {
  const { terminal, style, agent } = dialog
  const keys = `${choiceLine(question)}\n> `
  terminal.output.write(permissionCard(permission, { agent, style }) + keys)
  for (;;) {
    const line = await readLine(terminal, signal)
    const choice = line === undefined ? { answer: PERMISSION_ANSWERS.no } : readChoice(line, question)
    if (choice === 'reason') return await askReason(terminal, signal)
    if (typeof choice === 'object') {
      if (choice.answer === PERMISSION_ANSWERS.always) terminal.output.write(savedLines(permission, agent))
      return choice.answer
    }
    const more = permissionCard(permission, { agent, style, whole: true }) + choiceHelp(question)
    terminal.output.write((choice === 'help' ? more : notUnderstood(line)) + keys)
  }
}

/** What "always" does; that it could not be done is told by whoever does it. */
function savedLines({ rules }: PermissionRequest, agent: string): string {
  const file = visibleLine(`agents/${agent}.toml`)
  return rules.map((rule) => `crabtalk: adding to ${file}: allow ${visibleLine(rule)}\n`).join('')
}

/** Says of a line that it was no answer; an empty one is a wish to see the question again. */
function notUnderstood(line = ''): string {
  const text = line.trim()
  if (text === '') return ''
  const seen = visibleLine(text)
  return `crabtalk: not understood: ${headOf(seen, MOST_ECHOED)}${seen.length > MOST_ECHOED ? '…' : ''}\n`
}

/** UTF-16 units of a line that was no answer. */
const MOST_ECHOED = 60

async function askReason(terminal: Dialog['terminal'], signal: AbortSignal): Promise<string> {
  terminal.output.write('why? ')
  return denialOf((await readLine(terminal, signal)) ?? '')
}

/** Undefined when the person gives no answer. */
async function askQuestion(
  { question, kind }: { question: AskQuestion; kind: AskKind },
  { terminal, style, agent }: Dialog,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isFree = kind !== AskKind.ELICITATION || question.options.length === 0
  const who = kind === AskKind.ELICITATION ? `an MCP server of ${agent}` : agent
  const about = question.header === '' ? '' : ` (${question.header})`
  const title = sanitize(`${who} asks${about}`).replaceAll('\n', ' ')
  const text = `crabtalk: ${title}\n${questionText(question, { style, isFree })}> `
  for (;;) {
    terminal.output.write(text)
    const line = await readLine(terminal, signal)
    if (line === undefined) return undefined
    const answer = readAnswer(line, question, { isFree })
    if (answer !== undefined) return answer
    terminal.output.write(notUnderstood(line))
  }
}

/** Ctrl-D moves no cursor: what comes next needs a line of its own. */
async function readLine(terminal: Dialog['terminal'], signal: AbortSignal): Promise<string | undefined> {
  await terminal.output.flush()
  const line = await terminal.readLine(signal)
  if (line === undefined) terminal.output.write('\n')
  return line
}
