import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import { parseObject } from '../base/json.ts'
import { PERMISSION_ANSWERS } from '../base/permission-answers.ts'
import type { JudgedCommand, Trust } from '../policy/types.ts'

/** One question. Without options the answer is free text. */
export interface Question {
  question: string
  /** Two or three words, for a tab or a table. */
  header: string
  options: readonly { label: string; description: string }[]
  multiSelect: boolean
}

/** Maps each question to the chosen label or the typed text; several labels are joined by ", ". */
export type AskAnswers = Readonly<Record<string, string>>

/** The tool call that needs permission, as a client shows it. */
export interface PermissionAsk {
  callId: string
  tool: string
  /** Empty for a built-in tool. */
  server: string
  /** Complete JSON text. */
  arguments: string
  /** A precise description of what the call would do. */
  action: string
  cwd: string
  /** The unified diff of an edit; otherwise empty. */
  diff: string
  reason: string
  /** The rules that "always" would save; empty when permission may be given for this call only. */
  rules: readonly string[]
  /** The commands of a shell line, in order; empty when the line cannot be parsed. */
  commands: readonly JudgedCommand[]
  /**
   * Sentences about what else the rules permit, both `rules` and those that matched; each names a narrower
   * rule.
   */
  warnings: readonly string[]
  /** Whether the answer may change the arguments of the call. */
  editable: boolean
}

/** The refusal of a call, with its reason. */
export interface Denial {
  /** The call in readable form, such as `bash: rm -rf build`. */
  action: string
  reason: string
  /** The rules that together would allow it. */
  rules: readonly string[]
  /** Whether a rule or a person refused, or no person was available. */
  by: 'rule' | 'person' | 'nobody'
}

/** A question that waits for an answer. */
export interface Ask {
  id: string
  /**
   * `trust` is about the instruction files of a folder; its answer is one of the options, or empty. `plan` has
   * the plan as its question.
   */
  kind: 'question' | 'permission' | 'elicitation' | 'trust' | 'plan'
  questions: readonly Question[]
  permission: PermissionAsk | undefined
}

/** A question and the turn that waits for it. */
export interface PendingAsk {
  agent: string
  sender: string
  session: string
  runId: string
  /** Milliseconds since 1970. */
  openedAt: number
  /** Whether it is abandoned after the time limit; otherwise it waits as long as its turn runs. */
  hasTimeLimit: boolean
  ask: Ask
}

/** The end of a question: who or what ended it, and the answers if there are any. */
export interface AskEnd {
  by: string
  answers: AskAnswers | undefined
  /** The arguments with which the user lets the call run, as JSON text; absent when they are unchanged. */
  arguments?: string
}

/** A question with the trust class of its turn. */
export interface QueuedAsk extends PendingAsk {
  /** The trust class of the turn. */
  trust: Trust
}

interface Waiting extends QueuedAsk {
  settle(end: AskEnd): void
}

/** The pending questions of all turns of one runtime. Several may wait in one conversation. */
export class Asks {
  readonly #waiting = new Map<string, Waiting>()
  readonly #timeoutMs: number

  constructor(options: { timeoutMs: number }) {
    this.#timeoutMs = options.timeoutMs
  }

  /**
   * Waits until a question is answered or times out, and returns how it ended. Throws `cancelled` when its
   * turn is cancelled.
   */
  async wait(pending: QueuedAsk, signal: AbortSignal): Promise<AskEnd> {
    const gate = Promise.withResolvers<AskEnd>()
    const onAbort = () => gate.reject(toCancelledError(signal))
    const giveUp = () => gate.resolve({ by: 'timeout', answers: undefined })
    const timer = pending.hasTimeLimit ? setTimeout(giveUp, this.#timeoutMs) : undefined
    this.#waiting.set(pending.ask.id, { ...pending, settle: gate.resolve })
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      if (signal.aborted) onAbort()
      return await gate.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      this.#waiting.delete(pending.ask.id)
    }
  }

  /**
   * Answers one question: the one with that id, or the oldest of the pair. `content` is a JSON object from
   * question to label.
   *
   * Throws `missing` when no such question waits; `invalid` when the content answers something else or, for a
   * `trust` question, is not one of its options; `denied` when a client that is not local would give a
   * permission, or would answer a question of a local turn. `args` change the call of a permission, and must
   * come with an answer that allows it once. A decision about the trust in a folder also answers the same question of
   * other turns.
   */
  reply(
    to: { agent: string; sender: string; trust: Trust; id?: string },
    content: string,
    args?: string,
  ): void {
    const waiting = to.id === undefined ? this.#oldest(to) : this.#waiting.get(to.id)
    if (!waiting) throw noSuchQuestion()
    if (waiting.ask.kind === 'permission' && to.trust !== 'local') {
      throw new CrabError('denied', 'Cannot give permission: only a local user can')
    }
    if (waiting.trust === 'local' && to.trust !== 'local') {
      throw new CrabError('denied', 'Cannot answer the question: only a local user can')
    }
    const answers = readAnswers(content, waiting.ask)
    if (args !== undefined) requireEditable(waiting.ask, answers, args)
    this.#waiting.delete(waiting.ask.id) // the next reply is for the next question
    const by = to.sender || waiting.sender
    waiting.settle({ by, answers, ...(args !== undefined && { arguments: args }) })
    if (waiting.ask.kind === 'trust') this.#settleSame(waiting, { by, answers })
  }

  /** Answers the same question about trust of other turns, because a decision is about the folder, not the turn. */
  #settleSame({ ask, trust }: Waiting, end: AskEnd & { answers: AskAnswers }): void {
    const { question } = ask.questions[0]!
    if (end.answers[question] === '') return // it decides nothing
    for (const other of this.#waiting.values()) {
      const isSame = other.ask.kind === 'trust' && other.ask.questions[0]!.question === question
      if (!isSame || other.trust !== trust) continue
      this.#waiting.delete(other.ask.id)
      other.settle(end)
    }
  }

  /** Lists the pending questions, oldest first; those of one agent, or all for an empty name. */
  list(agent: string): PendingAsk[] {
    return [...this.#waiting.values()]
      .filter((waiting) => agent === '' || waiting.agent === agent)
      .map(({ settle: _, trust: __, ...pending }) => pending)
  }

  #oldest({ agent, sender }: { agent: string; sender: string }): Waiting | undefined {
    return this.#waiting.values().find((waiting) => waiting.agent === agent && waiting.sender === sender)
  }
}

/** The `missing` error for a question that is not pending. */
export function noSuchQuestion(): CrabError {
  return new CrabError('missing', 'Cannot answer: no pending question has that id', {
    hint: 'it was answered elsewhere, it timed out, or its turn is over',
  })
}

function readAnswers(content: string, ask: Ask): AskAnswers {
  const answers = parseObject(content)
  const hint = 'content must be a JSON object that maps each question to a label'
  if (!answers) throw new CrabError('invalid', 'Cannot use the answer: it is not a JSON object', { hint })
  const entries = ask.questions.map(({ question }) => [question, answers[question]])
  const open = entries.find(([, label]) => typeof label !== 'string')
  if (open) throw new CrabError('invalid', `Cannot use the answer: it does not answer "${open[0]}"`, { hint })
  if (ask.kind === 'trust') for (const question of ask.questions) requireOption(question, answers)
  return Object.fromEntries(entries)
}

/** Throws `invalid` when the answer may not change the call, or the arguments are not a JSON object. */
function requireEditable({ permission, questions }: Ask, answers: AskAnswers, args: string): void {
  const what = 'Cannot change the call'
  if (!permission?.editable)
    throw new CrabError('invalid', `${what}: this question does not allow that`, {
      hint: 'answer without changing it',
    })
  if (answers[questions[0]!.question] !== PERMISSION_ANSWERS.once) {
    throw new CrabError('invalid', `${what}: a changed call can only be allowed once`, {
      hint: `answer with "${PERMISSION_ANSWERS.once}"`,
    })
  }
  if (!parseObject(args))
    throw new CrabError('invalid', `${what}: the arguments are not a JSON object`, {
      hint: 'for example {"command":"npm test"}',
    })
}

/** Throws `invalid` for an answer that is neither empty nor one of the options. */
function requireOption({ question, options }: Question, answers: Record<string, unknown>): void {
  const labels = options.map(({ label }) => label)
  const answer = answers[question]
  if (answer === '' || labels.some((label) => label === answer)) return
  throw new CrabError('invalid', `Cannot use the answer to "${question}": it is not one of the options`, {
    hint: `answer with ${labels.join(' or ')}; an empty answer decides nothing`,
  })
}
