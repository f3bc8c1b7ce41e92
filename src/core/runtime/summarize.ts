import { CrabError } from '../base/errors.ts'
import { addUsage, type Message } from '../base/message.ts'
import type { Provider } from '../provider/types.ts'
import { askModel, type ModelAnswer, toTruncatedError } from './ask-model.ts'
import { askForSummary, COMPACTION_PROMPT, quoteConversation } from './compaction-prompt.ts'
import { toTranscript } from './transcript.ts'

/** The messages to summarize, and the model that does it. */
interface SummaryRequest {
  provider: Provider
  model: string
  messages: readonly Message[]
  /** The user's wish for the summary. */
  focus: string | undefined
}

/**
 * Asks a model to summarize a conversation, and returns the summary with its usage.
 *
 * A transcript that the provider rejects is sent once more at half the length; an answer that is cut off may
 * be twice as long the second time. Throws as askModel() does, and `truncated` when the second answer is cut
 * off too.
 */
export async function summarize(
  { provider, model, messages, focus }: SummaryRequest,
  signal: AbortSignal,
): Promise<Omit<ModelAnswer, 'isCut'>> {
  const { context } = provider.facts(model)
  const ask = (transcript: string, maxOutputTokens: number) =>
    askModel(
      provider,
      {
        what: WHAT,
        model,
        system: COMPACTION_PROMPT,
        messages: [{ role: 'user', content: quoteConversation(transcript, askForSummary(focus)) }],
        thinking: false,
        maxOutputTokens,
      },
      signal,
    )
  const most = Math.min(MAX_OUTPUT_TOKENS, Math.ceil((context ?? Number.POSITIVE_INFINITY) / 4))
  const shown = fitted(messages, context, most)
  const first = await ask(shown, most).catch(orIfTooMuch)
  if (first && !first.isCut) return first
  const second = first
    ? await ask(fitted(messages, context, 2 * most), 2 * most)
    : await ask(toTranscript(messages, Math.ceil(shown.length / 2)), Math.ceil(most / 2))
  if (second.isCut) throw toTruncatedError(WHAT)
  return { text: second.text, usage: sum(first?.usage, second.usage) }
}

const WHAT = 'Cannot compact the conversation'
/** Three times the requested length, because some models think even when thinking is turned off. */
const MAX_OUTPUT_TOKENS = 8000
/** The tokens of the prompt around the transcript. */
const QUESTION_TOKENS = 600
/** The most characters for a model whose window is unknown. */
const MAX_TRANSCRIPT = 600_000

/** Builds a transcript that leaves the model room to answer. */
function fitted(messages: readonly Message[], context: number | undefined, outputTokens: number): string {
  const transcript = toTranscript(messages, MAX_TRANSCRIPT)
  if (context === undefined) return transcript
  const tokens = Math.max(context - outputTokens - QUESTION_TOKENS, context / 4)
  const maxChars = Math.floor(tokens * charsPerToken(transcript))
  return transcript.length <= maxChars ? transcript : toTranscript(messages, maxChars)
}

/**
 * Estimates the least average number of characters per token: two for letters, one for Chinese, Japanese,
 * Korean and emoji.
 */
function charsPerToken(text: string): number {
  const wide = text.replaceAll(/[^\u2e80-\uffff]/g, '').length
  return 2 - wide / Math.max(text.length, 1)
}

/**
 * Returns undefined for `invalid`, the kind of a request that is too long: each provider words that
 * differently.
 */
function orIfTooMuch(reason: unknown): undefined {
  if (reason instanceof CrabError && reason.kind === 'invalid') return undefined
  throw reason
}

function sum(a: ModelAnswer['usage'], b: ModelAnswer['usage']): ModelAnswer['usage'] {
  return a && b ? addUsage(a, b) : (a ?? b)
}
