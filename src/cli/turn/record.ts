import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { parseObject } from '../../core/base/json.ts'
import { readTodoItems, TODO, type TodoItem } from '../../core/base/todo.ts'
import { type ToolSummary, TurnSummary } from '../../core/base/turn-summary.ts'
import {
  McpEventKind,
  type StreamEnd,
  type ToolCallInfo,
  type ToolDenial,
} from '../../core/protocol/crabtalk.generated.ts'
import { fromStreamEnd } from '../../core/protocol/failure.ts'
import { foldTurnEvent, type TurnFold, type WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import { toUsageJson } from '../../core/protocol/usage-json.ts'
import { type DenialRecord, permissionNeededError, toDenial } from './denials.ts'

/** The version of the json and stream-json forms. */
export const OUTPUT_VERSION = 1

/** A notice for the user; `server` is the MCP server that it is about. */
interface RunNotice {
  message: string
  server?: string
}

/** The record of a run, as far as its events tell. */
export class RunRecord implements TurnFold {
  readonly startedAt: number
  readonly notices: RunNotice[] = []
  agent = ''
  sender = ''
  run = ''
  session = ''
  model = ''
  readonly summary = new TurnSummary<ToolDenial>()
  /** The last list of the tool `todo`; null when it was not called. */
  todo: readonly TodoItem[] | null = null
  end: StreamEnd | undefined
  #hasCalls = false
  /** The MCP servers that are connecting, by name. */
  readonly #starting = new Set<string>()
  #toRequestMs: number | undefined
  #firstTextMs: number | undefined

  constructor(options: { startedAt: number; agent: string; sender: string }) {
    this.startedAt = options.startedAt
    this.agent = options.agent
    this.sender = options.sender
  }

  /** Whether the turn waits for tools, servers or their questions, and not for the model. */
  get isActing(): boolean {
    return this.#hasCalls || this.#starting.size > 0
  }

  /** The whole answer: the texts of all steps, with exactly one blank line between them. */
  get text(): string {
    return this.summary.texts.reduce((whole, text) => whole + (whole && blankLine(whole)) + text, '')
  }

  get lastText(): string {
    return this.summary.lastText
  }

  get toolErrors(): number {
    return [...this.summary.tools.values()].reduce((sum, tool) => sum + tool.errors, 0)
  }

  /** The calls that were not permitted. */
  get denied(): DenialRecord[] {
    return this.summary.denied.map(({ name, server, denial }) => {
      return { tool: name, server: server || null, ...toDenial(denial) }
    })
  }

  /** The calls that needed permission when no user could give it. */
  get unattendedDenials(): DenialRecord[] {
    return this.denied.filter(({ by }) => by === 'nobody')
  }

  apply(event: WireTurnEvent, now: number): void {
    foldTurnEvent(this, event)
    switch (event.$case) {
      case 'start':
        this.#toRequestMs = now - this.startedAt
        break
      case 'chunk':
        this.#firstTextMs ??= now - this.startedAt
        break
      case 'toolStart':
      case 'toolsComplete':
        this.#hasCalls = event.$case === 'toolStart'
        if (event.$case === 'toolStart') this.#readTodo(event.value.calls)
        break
      case 'mcpState':
        if (event.value.kind === McpEventKind.CONNECTING) this.#starting.add(event.value.name)
        else this.#starting.delete(event.value.name)
        break
      case 'notice':
        this.#note(event.value)
        break
    }
  }

  times(now: number) {
    return {
      total_ms: round(now - this.startedAt),
      to_request_ms: this.#toRequestMs === undefined ? null : round(this.#toRequestMs),
      ttft_ms: this.#firstTextMs === undefined ? null : round(this.#firstTextMs),
      tools_ms: [...this.summary.tools.values()].reduce((sum, tool) => sum + tool.ms, 0),
    }
  }

  #readTodo(calls: readonly ToolCallInfo[]): void {
    const last = calls.findLast(({ name, server }) => name === TODO && server === '')
    if (last) this.todo = readTodoItems(parseObject(last.arguments) ?? {}) ?? this.todo
  }

  #note({ message, server }: { message: string; server: string }): void {
    if (this.notices.length < MAX_NOTICES) this.notices.push({ message, ...(server !== '' && { server }) })
  }
}

const MAX_NOTICES = 100

/** Returns the line breaks that a text lacks to end in a blank line. */
export function blankLine(text: string): string {
  if (text.endsWith('\n\n')) return ''
  return text.endsWith('\n') ? '\n' : '\n\n'
}

/** Returns why a run that ended by itself is not a success; undefined when it is. */
export function findRunFailure(
  record: RunRecord,
  options: { failOnToolError: boolean },
): CrabError | undefined {
  const failure = toFailure(record)
  if (failure) return failure
  if (record.unattendedDenials.length > 0)
    return permissionNeededError(record.unattendedDenials, record.sender)
  const shortfall = findShortfall(record)
  if (shortfall) return shortfall
  if (options.failOnToolError && record.toolErrors > 0) {
    return new CrabError('tool', `Tool calls failed: ${record.toolErrors}`, { hint: 'see them with -v' })
  }
  return undefined
}

/** Whether the turn produced a whole answer, regardless of other failures. */
export function isAnswered(record: RunRecord): boolean {
  return !toFailure(record) && !findShortfall(record)
}

function toFailure({ end }: RunRecord): CrabError | undefined {
  if (end) return fromStreamEnd(end)
  return new CrabError('unavailable', 'Cannot finish the turn: the connection ended before it did')
}

/** Returns what is missing from the answer of a turn that did not fail. */
function findShortfall({ end, text }: RunRecord): CrabError | undefined {
  if (end?.detail?.stopReason === 'max_turns') return callLimitError(end.turns)
  const stop = STOPS[end?.detail?.stopReason ?? '']
  if (stop) return new CrabError(stop.kind, stop.message, { hint: stop.hint })
  if (text.trim() !== '') return undefined
  return new CrabError('empty', 'The model returned an empty answer', {
    hint: 'ask again, or ask for something else',
  })
}

function callLimitError(count: number): CrabError {
  return new CrabError('limit', `The turn reached its limit of ${pluralize(count, 'model call')}`, {
    hint: "raise it with --max-turns, or max_iterations in the agent's file; continue with -c",
  })
}

const STOPS: Record<string, { kind: keyof typeof ERROR_KINDS; message: string; hint: string }> = {
  length: {
    kind: 'truncated',
    message: "The answer was cut off at the model's output limit",
    hint: 'ask for a shorter answer, or continue with -c',
  },
  refused: {
    kind: 'refused',
    message: 'The model refused to answer',
    hint: 'put it differently, or use another model',
  },
  max_cost: {
    kind: 'limit',
    message: 'The turn reached its cost limit',
    hint: 'raise it with --max-cost, or continue with -c',
  },
}

/** Converts a finished run to its json form (docs/scripting.md). */
export function toResult(
  record: RunRecord,
  outcome: { exit: number; error: CrabError | undefined; structured: unknown; now: number },
) {
  const { end } = record
  const { error, exit } = outcome
  return {
    v: OUTPUT_VERSION,
    type: 'result',
    ok: exit === 0,
    exit,
    status: error?.kind ?? 'answered',
    agent: record.agent,
    sender: record.sender,
    session: record.session,
    run: record.run,
    text: record.text,
    structured: outcome.structured ?? null,
    stop_reason: end?.detail?.stopReason ?? null,
    model: end?.model || record.model,
    turns: end?.turns ?? 0,
    usage: end?.usage ? toUsageJson(end.usage) : null,
    cost_usd: end?.costUsd ?? null,
    time: record.times(outcome.now),
    tools: [...record.summary.tools.values()].map(toToolJson),
    todo: record.todo,
    denied: record.denied,
    notices: record.notices,
    error: error ? toErrorObject(error) : null,
  }
}

/** Converts an error to its form for programs. */
export function toErrorObject(error: CrabError) {
  return {
    code: error.kind,
    message: error.message,
    hint: error.hint ?? null,
    retryable: ERROR_KINDS[error.kind].retryable,
    retry_after_ms: error.retryAfterMs ?? null,
  }
}

function toToolJson({ server, name, calls, errors, ms }: ToolSummary) {
  return { server: server || null, name, calls, errors, ms }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
