import type { CallToolResult } from '@modelcontextprotocol/server'
import { type CrabError, toCrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type {
  StreamEnd,
  StreamEvent,
  TokenUsage,
  ToolDenial,
} from '../../core/protocol/crabtalk.generated.ts'
import { fromStreamEnd } from '../../core/protocol/failure.ts'

type TurnEvent = NonNullable<StreamEvent['event']>

/** Collects the events of a turn for the result of the host's call. */
export class TurnRecord {
  readonly #conversation: string
  readonly #agent: string
  readonly #texts: string[] = []
  readonly #denied: (ToolDenial & { tool: string })[] = []
  readonly #names = new Map<string, string>()
  #session = ''
  #model = ''
  #end: StreamEnd | undefined

  constructor({ agent, conversation }: { agent: string; conversation: string }) {
    this.#agent = agent
    this.#conversation = conversation
  }

  take(event: TurnEvent): void {
    switch (event.$case) {
      case 'start':
        this.#session = event.value.sessionId
        this.#model = event.value.model
        return
      case 'textStart':
        this.#texts.push('')
        return
      case 'chunk':
        this.#texts.push((this.#texts.pop() ?? '') + event.value.content)
        return
      case 'toolStart':
        for (const { callId, name } of event.value.calls) this.#names.set(callId, name)
        return
      case 'toolResult': {
        const { callId, denial } = event.value
        if (denial) this.#denied.push({ ...denial, tool: this.#names.get(callId) ?? '' })
        return
      }
      case 'end':
        this.#end = event.value
    }
  }

  /** Builds the result of a finished turn; `failure` is the reason it failed, if it did. */
  toResult(failure: unknown): CallToolResult {
    const error = failure === undefined ? this.#end && fromStreamEnd(this.#end) : toCrabError(failure)
    const answer = this.#texts.filter((text) => text !== '').join('\n\n')
    const words = [answer, error && toErrorText(error), this.#deniedWords()].filter((text) => text)
    return {
      content: (words.length > 0 ? words : ['[no answer]']).map((text) => ({
        type: 'text',
        text: text!.toWellFormed(),
      })),
      structuredContent: this.#structured(answer.toWellFormed(), error),
      ...(error && { isError: true }),
    }
  }

  /** Builds the structured content, with the whole answer for hosts that give their model nothing else. */
  #structured(answer: string, error: CrabError | undefined): JsonObject {
    const { usage, turns = 0, costUsd, model = this.#model, detail } = this.#end ?? {}
    return {
      agent: this.#agent,
      conversation: this.#conversation,
      session: this.#session,
      answer,
      model,
      turns,
      ...(usage && { usage: toUsage(usage) }),
      ...(costUsd !== undefined && { cost_usd: costUsd }),
      ...(detail?.stopReason && { stop_reason: detail.stopReason }),
      ...(this.#denied.length > 0 && {
        denied: this.#denied.map(({ tool, action, reason, rules }) => ({ tool, action, reason, rules })),
      }),
      ...(error && { error: { kind: error.kind, message: error.message } }),
    }
  }

  #deniedWords(): string {
    const lines = this.#denied.map(({ action, reason, rules }) => {
      const allow = rules.length > 0 ? `; the rule ${rules.join(' and ')} would allow it` : ''
      return `- ${action}: ${reason}${allow}`
    })
    const unique = [...new Set(lines)]
    if (unique.length === 0) return ''
    return `[Not permitted, and not done:\n${unique.join('\n')}\nRules are written into agents/${this.#agent}.toml, under [permissions].]`
  }
}

/** Builds the result of a call that failed without a turn. */
export function toFailedCall(reason: unknown): CallToolResult {
  return { content: [{ type: 'text', text: toErrorText(toCrabError(reason)) }], isError: true }
}

/** Formats an error for the host's model. */
function toErrorText({ message, hint }: CrabError): string {
  return hint ? `${message} (${hint})` : message
}

function toUsage(usage: TokenUsage): JsonObject {
  return {
    input: usage.promptTokens,
    output: usage.completionTokens,
    cache_read: usage.cacheHitTokens ?? 0,
    cache_write: usage.cacheWriteTokens ?? 0,
    reasoning: usage.reasoningTokens ?? 0,
  }
}
