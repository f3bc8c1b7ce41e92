import { setTimeout as sleep } from 'node:timers/promises'
import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { escapeLine, toVisible } from '../../core/base/visible.ts'
import {
  AskKind,
  type AskQuestion,
  type AskUserEvent,
  type PermissionRequest,
} from '../../core/protocol/crabtalk.generated.ts'
import { askerName, takesAnyText } from '../../core/questions/answer-kinds.ts'
import { NO_DIGIT } from '../../core/questions/choices.ts'
import { type EditableText, findEditableText } from '../../core/questions/edit-call.ts'
import { optionKeys } from '../../core/questions/option-keys.ts'
import { toDenialAnswer } from '../../core/questions/permission-answer.ts'
import { toChangesAnswer } from '../../core/questions/plan-choices.ts'
import type { Terminal } from '../host.ts'
import { permissionCard } from './card.ts'
import { choiceHelpLines, choiceLines, readChoice } from './choice.ts'
import { quoteWithBar, type TerminalStyle } from './layout.ts'
import { NO_PLAN_ANSWER, planChoiceNames, planText, readPlanChoice } from './plan.ts'
import { questionText, readAnswer } from './question.ts'

/** The lines that can be an answer: a number or `?`; also `e`, which edits the call; any text. */
export type LineKind = 'choice' | 'choice-or-edit' | 'words'

/** The terminal on which the user is asked, and the agent that asks. */
export interface Dialog {
  terminal: {
    output: Terminal['output']
    /** Reads the next line, which must be of that kind to be an answer. */
    readLine(signal: AbortSignal, kind: LineKind): Promise<string | undefined>
  }
  style: TerminalStyle
  agent: string
  /**
   * Resolves when a question has been on the screen long enough for an answer, with the lines that were typed
   * too early.
   */
  see?(signal: AbortSignal): Promise<string>
  /**
   * Whether text that is not a choice is sent to the agent as a message; such text then answers the question
   * only after the free-text choice was made.
   */
  hasComposer?: boolean
}

/** The time in milliseconds that a question must be on the screen before an answer counts. */
const ANSWER_DELAY_MS = 1_000

/**
 * Waits until the user can have seen a question; returns the lines typed meanwhile, which are not used as
 * answers.
 */
export async function discardEarlyInput(
  terminal: Pick<Terminal, 'forgetInput'>,
  signal: AbortSignal,
): Promise<string> {
  await sleep(ANSWER_DELAY_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  return terminal.forgetInput()
}

/** The answers by question, as `reply_to_ask` takes them. */
export type DialogAnswers = Record<string, string>

/** The result of a dialog. */
export interface DialogReply {
  answers: DialogAnswers
  /** The arguments that the user has changed, as JSON, for a call that was allowed. */
  arguments?: string
}

/**
 * Asks the user all questions of an ask, one after the other.
 *
 * The end of input (Ctrl-D) denies a permission, and leaves this and all further questions with an empty
 * answer.
 */
export async function runDialog(
  ask: AskUserEvent,
  dialog: Dialog,
  signal: AbortSignal,
): Promise<DialogReply> {
  const { permission, questions } = ask
  const first = questions[0]
  if (permission && first) {
    const { answer, ...changed } = await askPermission({ permission, question: first }, dialog, signal)
    return { answers: { [first.question]: answer }, ...changed }
  }
  if (ask.kind === AskKind.PLAN && first)
    return { answers: { [first.question]: await askPlan(first, dialog, signal) } }
  const answers: DialogAnswers = Object.fromEntries(questions.map(({ question }) => [question, '']))
  for (const question of questions) {
    const answer = await askQuestion({ question, kind: ask.kind }, dialog, signal)
    if (answer === undefined) break
    answers[question.question] = answer
  }
  return { answers }
}

/** An answer to a permission request, possibly for other arguments. */
interface PermissionReply {
  answer: string
  arguments?: string
}

async function askPermission(
  { permission, question }: { permission: PermissionRequest; question: AskQuestion },
  dialog: Dialog,
  signal: AbortSignal,
): Promise<PermissionReply> {
  const { terminal, style, agent } = dialog
  const editable = findLineToEdit(permission)
  const keys = `A number and Enter answer${editable ? ` · e edits the ${editable.part}` : ''} · ? details\n> `
  const kind = editable ? 'choice-or-edit' : 'choice'
  const card = permissionCard(permission, { agent, style })
  const whole = permissionCard(permission, { agent, style, whole: true })
  const choices = choiceLines(question, { rules: permission.rules, agent }, style)
  let isSeen = card === whole
  let text = card
  for (;;) {
    const line = await readAfter(dialog, { text: text + choices + keys, kind }, signal)
    const choice = line === undefined ? { answer: PERMISSION_ANSWERS.no } : readChoice(line, question)
    if (choice === 'reason') return { answer: await askReason(terminal, signal) }
    const isEdit = editable !== undefined && line?.trim() === EDIT_KEY
    const isAllowing = isEdit || (typeof choice === 'object' && ALLOWING.has(choice.answer))
    if (isAllowing && !isSeen) {
      text = `${whole}crabtalk: this is the whole request; nothing is allowed yet\n`
      isSeen = true
      continue
    }
    if (typeof choice === 'object') return { answer: reportSaved(choice.answer, { permission, dialog }) }
    if (isEdit) {
      const edited = await askEdit(editable, dialog, signal)
      if (edited) return edited
      text = 'crabtalk: the call is as it was\n'
      continue
    }
    isSeen ||= choice === 'help'
    text = choice === 'help' ? whole + choiceHelpLines(question, agent) : invalidInputNotice(line)
  }
}

/** The line that edits the call. */
const EDIT_KEY = 'e'

/** Returns the part of a call that can be typed as one line; undefined when there is none. */
function findLineToEdit(request: PermissionRequest): EditableText | undefined {
  const editable = findEditableText(request)
  if (!editable) return undefined
  const isLine = editable.part === 'command' || editable.part === 'arguments'
  return isLine || !editable.text.includes('\n') ? editable : undefined
}

/**
 * Reads the changed part of a call, shows it, and asks once more, so that no line that was meant for something
 * else runs. Undefined when the call stays as it is.
 */
async function askEdit(
  { part, toArguments, text: before }: EditableText,
  dialog: Dialog,
  signal: AbortSignal,
): Promise<PermissionReply | undefined> {
  const { terminal, style } = dialog
  terminal.output.write(`The ${part} to run instead (an empty line changes nothing): `)
  const typed = (await readLine(terminal, signal, 'words'))?.trim() ?? ''
  if (typed === '' || typed === before) return undefined
  const args = toArguments(typed)
  if (args === undefined) {
    terminal.output.write('crabtalk: this is not a JSON object\n')
    return undefined
  }
  const shown = quoteWithBar(toVisible(typed), { style, maxRows: Number.POSITIVE_INFINITY })
  let text = `crabtalk: the call as you changed it\n${shown.join('\n')}\n${EDITED_CHOICES}`
  for (;;) {
    const line = await readAfter(dialog, { text, kind: 'choice' }, signal)
    if (line === undefined || line.trim() === `${NO_DIGIT}`) return undefined
    if (line.trim() === '1') return { answer: PERMISSION_ANSWERS.once, arguments: args }
    text = `${invalidInputNotice(line)}${EDITED_CHOICES}`
  }
}

const EDITED_CHOICES = `  1     Yes, run it so\n  ${NO_DIGIT}     No, back to the call\nA number and Enter answer\n> `

const ALLOWING: ReadonlySet<string> = new Set([
  PERMISSION_ANSWERS.once,
  PERMISSION_ANSWERS.session,
  PERMISSION_ANSWERS.edits,
  PERMISSION_ANSWERS.always,
])

/** Reports what the answer saves, and returns the answer. */
function reportSaved(
  answer: string,
  { permission, dialog: { terminal, agent } }: { permission: PermissionRequest; dialog: Dialog },
): string {
  if (answer === PERMISSION_ANSWERS.always) terminal.output.write(savedLines(permission, agent))
  return answer
}

/**
 * Shows a question, waits until it can have been seen, and reads the next line.
 *
 * The terminal echoes text that is typed too early after the last line of the question, not after the prompt.
 */
async function readAfter(
  { terminal, see }: Dialog,
  { text, kind = 'choice' }: { text: string; kind?: LineKind },
  signal: AbortSignal,
): Promise<string | undefined> {
  const at = text.lastIndexOf('\n')
  terminal.output.write(`${text.slice(0, at)} `)
  await terminal.output.flush()
  const early = (await see?.(signal)) ?? ''
  terminal.output.write(earlyInputNotice(early) + text.slice(at + 1))
  return await readLine(terminal, signal, kind)
}

/** Describes the rules that "always" adds; a failure to add them is reported by the code that adds them. */
function savedLines({ rules }: PermissionRequest, agent: string): string {
  const file = escapeLine(`agents/${agent}.toml`)
  return rules.map((rule) => `crabtalk: adding to ${file}: allow ${escapeLine(rule)}\n`).join('')
}

/** Ends the line of the question; if input came too early, says that its last line was not used. */
function earlyInputNotice(early: string): string {
  if (early === '') return '\n'
  const [text] = early.trim().split('\n').slice(-1)
  return `crabtalk: Enter came too soon to be an answer${text === '' ? '' : `: ${quoteInput(text!)}`}\n`
}

/** Says that a line was not an answer; an empty line just shows the question again. */
function invalidInputNotice(line = ''): string {
  const text = line.trim()
  return text === '' ? '' : `crabtalk: not understood: ${quoteInput(text)}\n`
}

function quoteInput(text: string): string {
  const seen = escapeLine(text)
  return `${takeStart(seen, MAX_ECHOED)}${seen.length > MAX_ECHOED ? '…' : ''}`
}

/** The maximum number of UTF-16 units of invalid input that are echoed. */
const MAX_ECHOED = 60

async function askReason(terminal: Dialog['terminal'], signal: AbortSignal): Promise<string> {
  terminal.output.write('Tell the agent why: ')
  return toDenialAnswer((await readLine(terminal, signal, 'words')) ?? '')
}

/** Asks about a plan. The end of input means no. */
async function askPlan(question: AskQuestion, dialog: Dialog, signal: AbortSignal): Promise<string> {
  const { terminal, style, agent } = dialog
  let text = `crabtalk: ${escapeLine(agent)} presents a plan\n${planText(question, style)}A number and Enter answer\n> `
  for (;;) {
    const line = await readAfter(dialog, { text }, signal)
    const choice = line === undefined ? { answer: NO_PLAN_ANSWER } : readPlanChoice(line, question)
    if (typeof choice === 'object') return choice.answer
    if (choice === 'changes') {
      terminal.output.write('What should be different: ')
      return toChangesAnswer((await readLine(terminal, signal, 'words')) ?? '')
    }
    text = `${invalidInputNotice(line)}A number and Enter answer: ${planChoiceNames(question)}\n> `
  }
}

/** Returns undefined when the user gives no answer. */
async function askQuestion(
  { question, kind }: { question: AskQuestion; kind: AskKind },
  dialog: Dialog,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { terminal, style, agent, hasComposer = false } = dialog
  const isFree = takesAnyText({ kind }, question)
  const about = question.header === '' ? '' : ` (${question.header})`
  const title = sanitize(`${askerName({ kind }, agent)} asks${about}`).replaceAll('\n', ' ')
  const hasDigits = !optionKeys(question.options, kind).includes('')
  const freeTextKey = hasComposer && isFree && hasDigits ? question.options.length + 1 : undefined
  const text = `crabtalk: ${title}\n${questionText(question, { style, isFree, freeTextKey, kind })}> `
  for (;;) {
    const line = await readAfter(dialog, { text }, signal)
    if (line === undefined) return undefined
    if (freeTextKey !== undefined && line.trim() === `${freeTextKey}`)
      return await askFreeText(terminal, signal)
    const answer = readAnswer(line, question, { isFree: isFree && !hasComposer, kind })
    if (answer !== undefined) return answer
    terminal.output.write(invalidInputNotice(line))
  }
}

async function askFreeText(terminal: Dialog['terminal'], signal: AbortSignal): Promise<string | undefined> {
  terminal.output.write('Your answer: ')
  return await readLine(terminal, signal, 'words')
}

/** Reads a line. After Ctrl-D, which does not move the cursor, it starts a new line. */
async function readLine(
  terminal: Dialog['terminal'],
  signal: AbortSignal,
  kind: LineKind,
): Promise<string | undefined> {
  await terminal.output.flush()
  const line = await terminal.readLine(signal, kind)
  if (line === undefined) terminal.output.write('\n')
  return line
}
