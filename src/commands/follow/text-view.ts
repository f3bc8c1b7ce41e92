import { formatAskLine } from '../../cli/ask/ask-line.ts'
import type { ConversationAddress } from '../../cli/conversation-address.ts'
import { shortId } from '../../cli/find-conversation.ts'
import type { Output } from '../../cli/output.ts'
import { formatCallLine, formatFailureLine } from '../../cli/turn/call-line.ts'
import { isNotRun } from '../../core/base/not-run.ts'
import { Sanitizer, sanitize } from '../../core/base/sanitize.ts'
import { isWindowSender } from '../../core/base/sender-class.ts'
import { toTypedText } from '../../core/base/typed-message.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { formatCompaction } from '../../core/protocol/compaction-words.ts'
import type {
  AskInfo,
  AskUserEvent,
  AttachState,
  RetryEvent,
  SessionMessage,
  ToolCallInfo,
  ToolResultEvent,
} from '../../core/protocol/crabtalk.generated.ts'
import { OpenAsks } from '../../core/protocol/open-asks.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import type { FollowView } from './view.ts'

/**
 * Prints a conversation for people: who says what, text as it arrives, and a line for each tool call.
 *
 * Only our own words begin a line; foreign text is indented from its second line on, and printed without
 * terminal control sequences.
 */
export class TextView implements FollowView {
  readonly #stdout: Output
  readonly #address: ConversationAddress
  readonly #calls = new Map<string, string>()
  /** The open questions that were shown. */
  readonly #asks = new OpenAsks()
  #speaker: string
  #sanitizer = new Sanitizer()
  #isLineOpen = false
  /** The line breaks at the end of the current text, which matter only when more text follows. */
  #pendingBreaks = ''

  constructor({ stdout, address }: { stdout: Output; address: ConversationAddress }) {
    this.#stdout = stdout
    this.#address = address
    this.#speaker = address.agent
  }

  state(_: AttachState, isOther: boolean): Promise<void> | undefined {
    return isOther ? this.#note('another conversation continues here') : undefined
  }

  history(message: SessionMessage): Promise<void> | undefined {
    const { role, content, agent, toolCalls, isError, name, attachments } = message
    if (role === 'tool' && isNotRun(name, content)) return this.#line('⊘', `${name} · not run`)
    if (role === 'tool')
      return isError ? this.#line('✗', `${name}: ${formatFailureLine(content)}`) : undefined
    const files = attachments.map((file) => `[${file.name || file.mediaType}]`)
    const words = role === 'user' ? toTypedText(content) : content
    const text = [words, ...files].filter((part) => part !== '').join('\n')
    const who = role === 'user' ? this.#nameUser() : agent || this.#address.agent
    const spoken = text === '' ? undefined : this.#say(who, text)
    return toolCalls.map((call) => this.#line('→', formatCallLine(call))).at(-1) ?? spoken
  }

  userMessage(message: SessionMessage): Promise<void> | undefined {
    return this.history(message)
  }

  pendingAsk({ ask }: AskInfo): Promise<void> | undefined {
    return ask && this.#ask(ask)
  }

  event(event: WireTurnEvent): Promise<void> | undefined {
    switch (event.$case) {
      case 'start':
        this.#speaker = event.value.agent
        return undefined
      case 'textStart':
        this.#endLine()
        this.#sanitizer = new Sanitizer()
        return this.#open(event.value.agent || this.#speaker)
      case 'chunk':
        // the beginning is not stored, or something else was printed in between
        if (!this.#isLineOpen) this.#open(this.#speaker)
        return this.#text(this.#sanitizer.push(event.value.content))
      case 'textEnd':
        return this.#endLine()
      case 'userSteered':
        return this.#say(this.#nameUser(), toTypedText(event.value.content))
      default:
        return this.#work(event)
    }
  }

  #nameUser(): string {
    return isWindowSender(this.#address.sender) ? 'you' : this.#address.sender
  }

  #work(event: WireTurnEvent): Promise<void> | undefined {
    switch (event.$case) {
      case 'toolStart':
        return event.value.calls.map((call) => this.#call(call)).at(-1)
      case 'toolResult':
        return this.#result(event.value)
      case 'askUser':
        return this.#ask(event.value)
      case 'askClosed': {
        const { askId, by } = event.value
        if (!this.#asks.close(askId)) return undefined
        return this.#line('?', `${shortId(askId)} is closed: ${escapeLine(by)}`)
      }
      case 'retry':
        return this.#note(describeRetry(event.value))
      case 'steerReturned':
        return this.#note(`not delivered, the turn ended first: ${event.value.content}`)
      case 'compaction':
        return this.#note(formatCompaction(event.value))
      case 'notice':
        return this.#note(event.value.message)
      case 'end':
        return this.#end(event.value)
      default:
        return undefined
    }
  }

  #call(call: ToolCallInfo): Promise<void> | undefined {
    this.#calls.set(call.callId, formatCallLine(call))
    return this.#line('→', formatCallLine(call))
  }

  /** Prints failures only: a successful call already has its line. */
  #result({ callId, isError, denial, output, durationMs }: ToolResultEvent): Promise<void> | undefined {
    const called = this.#calls.get(callId) ?? escapeLine(callId)
    this.#calls.delete(callId)
    if (denial) return this.#line('⊘', `${called} · denied: ${escapeLine(denial.reason)}`)
    if (isError && isNotRun(called, output)) return this.#line('⊘', `${called} · not run`)
    return isError ? this.#line('✗', `${called} · ${durationMs} ms: ${formatFailureLine(output)}`) : undefined
  }

  #ask(ask: AskUserEvent): Promise<void> | undefined {
    if (!this.#asks.open(ask)) return undefined
    const id = shortId(ask.askId)
    this.#line('?', `${escapeLine(this.#speaker)} asks: ${formatAskLine(ask)}`)
    return this.#line(' ', `answer with crabtalk answer ${id}`)
  }

  #end({ error, detail }: { error: string; detail?: { kind: string; stopReason: string } | undefined }) {
    const stop = detail?.stopReason ?? ''
    if (error !== '') return this.#note(detail?.kind === 'cancelled' ? 'cancelled' : `failed: ${error}`)
    return stop === '' || stop === 'stop' ? this.#endLine() : this.#note(`ended: ${stop}`)
  }

  #say(who: string, text: string): Promise<void> | undefined {
    this.#endLine()
    this.#open(who)
    this.#text(sanitize(text))
    return this.#endLine()
  }

  #note(text: string): Promise<void> | undefined {
    return this.#line('•', escapeLine(text))
  }

  /** Prints a line; `text` must not contain line breaks or control sequences. */
  #line(mark: string, text: string): Promise<void> | undefined {
    this.#endLine()
    return this.#stdout.write(`${mark} ${text}\n`)
  }

  #open(who: string): Promise<void> | undefined {
    this.#isLineOpen = true
    return this.#stdout.write(`${escapeLine(who)}: `)
  }

  #text(text: string): Promise<void> | undefined {
    const all = this.#pendingBreaks + text
    const body = all.replace(/\n+$/, '')
    this.#pendingBreaks = all.slice(body.length)
    return this.#stdout.write(body.replaceAll(/\n(?!\n)/g, '\n  '))
  }

  #endLine(): Promise<void> | undefined {
    this.#pendingBreaks = ''
    if (!this.#isLineOpen) return undefined
    this.#isLineOpen = false
    return this.#stdout.write('\n')
  }
}

function describeRetry({ attempt, delayMs, message, discardedTexts }: RetryEvent): string {
  const brokeOff = discardedTexts === undefined ? '' : 'the answer broke off and starts again; '
  return `${brokeOff}retry ${attempt} in ${delayMs} ms: ${message}`
}
