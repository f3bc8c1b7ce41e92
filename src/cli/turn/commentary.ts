import { isNotRun } from '../../core/base/not-run.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { formatCompaction } from '../../core/protocol/compaction-words.ts'
import {
  DeniedBy,
  McpEventKind,
  type McpEventMsg,
  type ToolDenial,
  type ToolProgressEvent,
  type ToolResultEvent,
} from '../../core/protocol/crabtalk.generated.ts'
import { OpenAsks } from '../../core/protocol/open-asks.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import type { Output } from '../output.ts'
import { StatusLine } from '../status-line.ts'
import { formatCallLine, formatFailureLine } from './call-line.ts'

/** The delay in milliseconds before a turn that has not started yet is explained. */
const QUEUE_DELAY_MS = 2_000

/** The settings of a commentary. */
export interface CommentaryOptions {
  stderr: Output
  verbosity: number
  thinking: boolean
  /** Whether to show a status line when standard error is a terminal. */
  status: boolean
  term: string | undefined
  /** Returns the width of the terminal; called only when a status line is shown, because it takes time. */
  columns(): number
}

/**
 * Prints to standard error what accompanies the answer: notices, one line per tool call with -v, every event
 * with -vv, and on a terminal one status line that is erased before anything else is printed.
 */
export class Commentary implements Disposable {
  readonly #stderr: Output
  readonly #verbosity: number
  readonly #showsStatus: boolean
  readonly #showsThinking: boolean
  readonly #line: StatusLine
  /** The calls in progress, as lines by call id. */
  readonly #calls = new Map<string, string>()
  /** The MCP servers that are connecting. */
  readonly #starting = new Set<string>()
  /** The agent and model, shown while the model is waited for. */
  #modelLabel = ''
  #running = ''
  #isTexting = false
  /** The questions that wait for the user, who wants to see what they type. */
  readonly #questions = new OpenAsks()
  /** Set until the turn starts. */
  #queued: NodeJS.Timeout | undefined

  constructor(options: CommentaryOptions) {
    const { stderr, verbosity, thinking, status, term, columns } = options
    this.#stderr = stderr
    this.#verbosity = verbosity
    this.#showsThinking = thinking && verbosity >= 0
    this.#line = new StatusLine({ stderr, term, columns })
    this.#showsStatus = status && verbosity >= 0 && this.#line.isPossible
    const waiting = 'crabtalk: waiting to start; another turn of this conversation may be running\n'
    if (verbosity >= 1 || this.#showsStatus)
      this.#queued = setTimeout(() => this.#print(waiting), QUEUE_DELAY_MS)
  }

  event(event: WireTurnEvent): void {
    clearTimeout(this.#queued)
    switch (event.$case) {
      case 'start':
        this.#modelLabel = `${event.value.agent} · ${event.value.model}`
        this.#showWait()
        break
      case 'textStart':
      case 'textEnd':
        this.#isTexting = event.$case === 'textStart'
        break
      case 'mcpState':
        this.#serverChanged(event.value)
        break
      case 'thinking':
        if (this.#showsThinking) this.#print(sanitize(event.value.content))
        break
      case 'thinkingEnd':
        if (this.#showsThinking) this.#print('\n')
        break
      case 'toolStart':
        for (const call of event.value.calls) this.#calls.set(call.callId, formatCallLine(call))
        this.#running = `running ${event.value.calls.map(formatCallLine).join(', ')}`
        this.#showWait()
        break
      case 'toolProgress':
        this.#showProgress(event.value)
        break
      case 'askUser':
        this.#questions.open(event.value)
        this.clear()
        break
      case 'askClosed':
        this.#questions.close(event.value.askId)
        this.#showWait()
        break
      case 'toolResult':
        if (this.#verbosity >= 1) this.#print(this.#toolLine(event.value))
        break
      case 'toolsComplete':
        this.#running = ''
        this.#showWait()
        break
      case 'retry':
        if (this.#verbosity >= 1 || this.#showsStatus) this.#retry(event.value)
        break
      case 'steerReturned':
        this.#print(`crabtalk: not delivered, the turn ended first: ${sanitize(event.value.content)}\n`)
        break
      case 'compaction':
        this.#print(`crabtalk: ${sanitize(formatCompaction(event.value))}\n`)
        break
      case 'notice':
        if (this.#shouldPrint(event.value)) this.#print(`crabtalk: ${sanitize(event.value.message)}\n`)
        break
    }
    if (this.#verbosity >= 2 && event.$case !== 'chunk')
      this.#print(`${event.$case} ${sanitize(JSON.stringify(event.value))}\n`)
  }

  /** Erases the status line. */
  clear(): void {
    this.#line.clear()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#queued)
    this.clear()
  }

  /**
   * Whether to print a notice. A passing notice only reports progress, so a pipe gets it only with -v; any
   * other is about a part that is missing from the answer, or a danger.
   */
  #shouldPrint({ passing }: { passing: boolean }): boolean {
    const isVisible = !passing || this.#stderr.isTerminal || this.#verbosity >= 1
    return isVisible && this.#verbosity >= 0
  }

  #serverChanged({ kind, name }: McpEventMsg): void {
    const before = this.#starting.size
    if (kind === McpEventKind.CONNECTING) this.#starting.add(name)
    else this.#starting.delete(name)
    if (this.#starting.size !== before) this.#showWait()
  }

  #showWait(how: 'show' | 'update' = 'show'): void {
    if (!this.#showsStatus || this.#questions.size > 0 || this.#isTexting) return
    const servers = `starting MCP servers: ${[...this.#starting].join(', ')}`
    this.#line[how](this.#starting.size > 0 ? servers : this.#running || this.#modelLabel)
  }

  #print(text: string): void {
    this.clear()
    this.#stderr.write(text)
  }

  #showProgress({ callId, message }: ToolProgressEvent): void {
    const called = this.#calls.get(callId)
    if (called === undefined || message === '') return
    this.#running = `running ${called}: ${message}`
    this.#showWait('update')
  }

  #retry({ attempt, delayMs, message }: { attempt: number; delayMs: number; message: string }): void {
    this.#print(`crabtalk: retry ${attempt} in ${delayMs} ms: ${sanitize(message)}\n`)
  }

  #toolLine({ callId, durationMs, isError, denial, output }: ToolResultEvent): string {
    const called = this.#calls.get(callId) ?? sanitize(callId)
    if (denial) return `⊘ ${called} · ${describeDenial(denial)}\n`
    if (isError && isNotRun(called, output)) return `⊘ ${called} · not run\n`
    const why = isError ? formatFailureLine(output) : ''
    return `${isError ? '✗' : '✓'} ${called} · ${durationMs} ms${why === '' ? '' : `: ${why}`}\n`
  }
}

/** Describes a denial; formatDenials() prints the reason of an unattended one. */
function describeDenial({ by, reason }: ToolDenial): string {
  return by === DeniedBy.NOBODY ? 'denied' : `denied: ${sanitize(reason)}`
}
