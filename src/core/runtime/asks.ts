import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import { parseObject } from '../base/json.ts'
import type { JudgedCommand, Trust } from '../policy/types.ts'

/** One question. Without options the answer is free text. */
export interface Question {
  question: string
  /** Two or three words for a tab or a table. */
  header: string
  options: readonly { label: string; description: string }[]
  multiSelect: boolean
}

/** From question to label, or to what was typed; several labels are joined by ", ". */
export type AskAnswers = Readonly<Record<string, string>>

/** The tool call that needs permission, as a client shows it. */
export interface PermissionAsk {
  callId: string
  tool: string
  /** Empty for a built-in tool. */
  server: string
  /** Complete JSON text. */
  arguments: string
  /** What it would do, exactly. */
  action: string
  cwd: string
  /** Unified diff of an edit; else empty. */
  diff: string
  reason: string
  /** The rules that "always" would save; none where an answer must not last. */
  rules: readonly string[]
  /** The commands of a command line, in its order; empty where it cannot be taken apart. */
  commands: readonly JudgedCommand[]
  /** Sentences about what rules permit besides, those of `rules` and those that matched, each with a narrower rule. */
  warnings: readonly string[]
}

/** Why a call was not permitted. */
export interface Denial {
  /** As a person reads it: `bash: rm -rf build`. */
  action: string
  reason: string
  /** The rules that would allow it, together. */
  rules: readonly string[]
  /** A rule said no, a person did, or nobody could be asked. */
  by: 'rule' | 'person' | 'nobody'
}

/** A question that waits for an answer. */
export interface Ask {
  id: string
  /** `trust`: about the instruction files of a folder; an answer is one of the options, or empty. */
  kind: 'question' | 'permission' | 'elicitation' | 'trust'
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
  /** It is given up after the time limit; without one it waits as long as its turn does. */
  hasTimeLimit: boolean
  ask: Ask
}

/** How a question ended: answered by somebody, or why it never will be. */
export interface AskEnd {
  by: string
  answers: AskAnswers | undefined
}

/** A question that is put. */
export interface QueuedAsk extends PendingAsk {
  /** Where its turn comes from. */
  trust: Trust
}

interface Waiting extends QueuedAsk {
  settle(end: AskEnd): void
}

/** The questions of all turns of one runtime. Several may wait in one conversation. */
export class Asks {
  readonly #waiting = new Map<string, Waiting>()
  readonly #timeoutMs: number

  constructor(options: { timeoutMs: number }) {
    this.#timeoutMs = options.timeoutMs
  }

  /**
   * Waits for the answer to a question; gives how it ended, also when nobody answered in time. Throws `cancelled` with the
   * turn.
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
   * Answers one question: that id, or the oldest of the pair. `content` is a JSON object from question to label.
   *
   * Throws `missing` when there is none, `invalid` when the content answers something else or, for a question of trust, is not
   * an option, `denied` when a permission is to be given from elsewhere, or a stranger's words would be taken for those of a person at this machine.
   */
  reply(to: { agent: string; sender: string; trust: Trust; id?: string }, content: string): void {
    const waiting = to.id === undefined ? this.#oldest(to) : this.#waiting.get(to.id)
    if (!waiting) throw noSuchQuestion()
    if (waiting.ask.kind === 'permission' && to.trust !== 'local') {
      throw new CrabError('denied', 'Cannot give permission: only somebody at this machine can')
    }
    if (waiting.trust === 'local' && to.trust !== 'local') {
      throw new CrabError('denied', 'Cannot answer the question: only somebody at this machine can')
    }
    const answers = readAnswers(content, waiting.ask)
    this.#waiting.delete(waiting.ask.id) // the next reply is for the next question
    waiting.settle({ by: to.sender || waiting.sender, answers })
  }

  /** Oldest first; those of one agent, or of all for an empty name. */
  list(agent: string): PendingAsk[] {
    return [...this.#waiting.values()]
      .filter((waiting) => agent === '' || waiting.agent === agent)
      .map(({ settle: _, trust: __, ...pending }) => pending)
  }

  #oldest({ agent, sender }: { agent: string; sender: string }): Waiting | undefined {
    return this.#waiting.values().find((waiting) => waiting.agent === agent && waiting.sender === sender)
  }
}

/** The error for a question that does not wait. */
export function noSuchQuestion(): CrabError {
  return new CrabError('missing', 'Cannot answer: no such question waits', {
    hint: 'it was answered elsewhere, nobody answered in time, or its turn is over',
  })
}

function readAnswers(content: string, ask: Ask): AskAnswers {
  const given = parseObject(content)
  const hint = 'content is a JSON object from each question to a label'
  if (!given) throw new CrabError('invalid', 'Cannot use the answer: it is not a JSON object', { hint })
  const entries = ask.questions.map(({ question }) => [question, given[question]])
  const open = entries.find(([, label]) => typeof label !== 'string')
  if (open) throw new CrabError('invalid', `Cannot use the answer: it leaves "${open[0]}" open`, { hint })
  if (ask.kind === 'trust') for (const question of ask.questions) requireOption(question, given)
  return Object.fromEntries(entries)
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
