import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { parseHttpUrl } from '../../core/base/server-address.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { AskAnswers, Question } from '../../core/runtime/asks.ts'
import { readForm, takeAnswers, toQuestions } from './form.ts'
import type { ElicitAnswer, ElicitationHandler, FieldValue, FormField } from './types.ts'

/**
 * Asks the user. Throws `denied` when no user can be asked, `timeout` when the question was not answered in
 * time.
 */
export type AskPerson = (questions: readonly Question[], signal: AbortSignal) => Promise<AskAnswers>

/**
 * Creates the handler that asks the user of a turn, as MCP 2025-11-25 and 2026-07-28 define it. It declines
 * when no user can be asked or the form is invalid, and cancels when the user leaves it unanswered. It
 * never opens a URL itself.
 */
export function elicitThrough({
  server,
  turn,
  ask,
  notice,
}: {
  server: string
  turn: string
  ask: AskPerson
  /** Notifies the user of a question that was declined. */
  notice?(message: string): void
}): ElicitationHandler {
  return {
    turn,
    onDeclined: () => notice?.(`Declined a question of the MCP server "${server}": ${AMBIGUOUS}`),
    async answer(params, signal) {
      const put = (questions: readonly Question[]) => ask(questions, signal)
      try {
        return await (params['mode'] === 'url'
          ? askToOpen(params, server, put)
          : askForm(params, server, put))
      } catch (reason) {
        signal.throwIfAborted()
        return { action: reason instanceof CrabError && reason.kind === 'denied' ? 'decline' : 'cancel' }
      }
    },
  }
}

type PutQuestions = (questions: readonly Question[]) => Promise<AskAnswers>

async function askToOpen(params: JsonObject, server: string, put: PutQuestions): Promise<ElicitAnswer> {
  const address = readElicitedUrl(params['url'])
  if (!address) return DECLINED
  const question = [
    `The MCP server "${server}" asks you to open a page of ${address.host}`,
    address.url,
    getMessage(params),
  ]
  const choice = await choose(put, {
    question: question.join('\n'),
    header: address.host,
    options: [DONE, DECLINE],
  })
  return choice === DONE ? { action: 'accept' } : toFinalAnswer(choice)
}

/** Asks a form with a single choice directly; before any other form, tells the user who asks for what. */
async function askForm(params: JsonObject, server: string, put: PutQuestions): Promise<ElicitAnswer> {
  const fields = readForm(params['requestedSchema'])
  if (!fields) return DECLINED
  const question = `The MCP server "${server}" asks: ${getMessage(params)}`
  const [lone] = fields
  if (fields.length === 1 && lone && isSingleChoice(lone)) return await askChoice(lone, question, put)
  const titles = fields.map(({ title }) => title).join(', ')
  const wants = titles === '' ? '' : `\nIt asks for: ${titles}`
  const presets = takeAnswers(fields, [])
  const isPreset = presets.problems.size === 0 && Object.keys(presets.content).length > 0
  const options = [ANSWER, ...(isPreset ? [PRESETS] : []), DECLINE]
  const choice = await choose(put, { question: question + wants, header: '', options })
  if (choice === PRESETS) return { action: 'accept', content: presets.content }
  if (choice !== ANSWER) return toFinalAnswer(choice)
  return fields.length === 0 ? { action: 'accept', content: {} } : await fillIn(fields, put)
}

function isSingleChoice({ options, multiSelect }: FormField): boolean {
  const hasDeclineOption = options.some(({ label }) => label.toLowerCase() === DECLINE.label.toLowerCase())
  return options.length > 0 && !multiSelect && !hasDeclineOption
}

async function askChoice(field: FormField, intro: string, put: PutQuestions): Promise<ElicitAnswer> {
  const { title, about, options, name, read } = field
  const question = [intro, title, about].filter(Boolean).join('\n')
  const answers = await put([{ question, header: title, options: [...options, DECLINE], multiSelect: false }])
  const answer = answers[question] ?? ''
  if (answer.toLowerCase() === DECLINE.label.toLowerCase()) return DECLINED
  const reading = answer === '' ? undefined : read(answer)
  return reading && 'value' in reading ? { action: 'accept', content: { [name]: reading.value } } : CANCELLED
}

/** Asks for all fields, repeating those with unusable answers. A round without any answer cancels the form. */
async function fillIn(fields: readonly FormField[], put: PutQuestions): Promise<ElicitAnswer> {
  const content: Record<string, FieldValue>[] = []
  let open = fields
  let problems: ReadonlyMap<FormField, string> = new Map()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const questions = toQuestions(open, problems)
    const answers = await put(questions)
    const answerTexts = questions.map(({ question }) => answers[question] ?? '')
    if (answerTexts.every((answer) => answer === '')) return CANCELLED
    const filled = takeAnswers(open, answerTexts)
    content.push(filled.content)
    problems = filled.problems
    if (problems.size === 0) return { action: 'accept', content: inOrder(fields, content) }
    open = [...problems.keys()]
  }
  return CANCELLED
}

function inOrder(fields: readonly FormField[], parts: readonly Record<string, FieldValue>[]) {
  const all = new Map(parts.flatMap((part) => Object.entries(part)))
  return Object.fromEntries(
    fields.flatMap(({ name }) => (all.has(name) ? [[name, all.get(name)!] as const] : [])),
  )
}

type Choice = Question['options'][number]

/** Asks for one of the options; returns undefined when none was chosen. */
async function choose(
  put: PutQuestions,
  question: Omit<Question, 'multiSelect'>,
): Promise<Choice | undefined> {
  const answers = await put([{ ...question, multiSelect: false }])
  const answer = (answers[question.question] ?? '').trim().toLowerCase()
  return question.options.find(({ label }) => label.toLowerCase() === answer)
}

function toFinalAnswer(choice: Choice | undefined): ElicitAnswer {
  return choice === DECLINE ? DECLINED : CANCELLED
}

function getMessage({ message }: JsonObject): string {
  const text =
    typeof message === 'string'
      ? sanitize(takeStart(message, 2 * MAX_MESSAGE))
          .toWellFormed()
          .trim()
      : ''
  const lines = text.split('\n').slice(0, MAX_LINES).join('\n')
  return lines.length > MAX_MESSAGE ? `${takeStart(lines, MAX_MESSAGE)}…` : lines
}

const ANSWER: Choice = { label: 'Answer', description: 'your answers are sent to the server' }
const PRESETS: Choice = { label: 'Send the presets', description: 'the values that the form already has' }
const DONE: Choice = { label: 'Done', description: 'you have opened it, and the server may continue' }
const DECLINE: Choice = { label: 'Decline', description: '' }
const DECLINED: ElicitAnswer = { action: 'decline' }
const CANCELLED: ElicitAnswer = { action: 'cancel' }
const AMBIGUOUS = 'it may belong to another call that is running or was cancelled less than 30 s ago'
const MAX_MESSAGE = 2_000
const MAX_LINES = 20
const MAX_ROUNDS = 4

/** A URL that a server asks the user to open. */
interface ElicitedUrl {
  /** The host as it is resolved: international names in ASCII, with the port. */
  host: string
  /** The whole URL, in ASCII. */
  url: string
}

/**
 * Parses a URL; undefined unless it is http or https, printable and without a user, so that it shows where it
 * leads.
 */
export function readElicitedUrl(text: unknown): ElicitedUrl | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHARS || text !== sanitize(text)) return undefined
  const url = parseHttpUrl(text)
  if (url?.username !== '' || url.password !== '') return undefined
  return { host: url.host, url: url.href }
}

const MAX_CHARS = 2_000
