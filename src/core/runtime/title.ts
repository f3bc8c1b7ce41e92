import { CrabError } from '../base/errors.ts'
import type { Usage } from '../base/message.ts'
import { sanitizeLine } from '../base/sanitize.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { Provider } from '../provider/types.ts'
import { effectiveLines } from '../storage/effective-lines.ts'
import type { SessionLine } from '../storage/types.ts'
import { askModel, toTruncatedError } from './ask-model.ts'
import { quoteConversation, TITLE_PROMPT } from './compaction-prompt.ts'
import { toTranscript } from './transcript.ts'

/** A title that a model proposes; it is not stored. */
export interface ProposedTitle {
  title: string
  model: string
  usage: Usage | undefined
}

/**
 * Asks the agent's model for a title, based on the beginning and the end of the conversation. Throws
 * `invalid` when nothing was said.
 */
export async function proposeTitle(
  { provider, agent, lines }: { provider: Provider; agent: AgentConfig; lines: readonly SessionLine[] },
  signal: AbortSignal,
): Promise<ProposedTitle> {
  const messages = effectiveLines(lines).flatMap((line) =>
    line.kind === 'entry' && line.role !== 'tool' ? [{ ...line, content: line.typed ?? line.content }] : [],
  )
  if (messages.length === 0) throw new CrabError('invalid', `${WHAT}: it has no messages yet`)
  const model = agent.model ?? provider.defaultModel()
  provider.prepare(model)
  const content = quoteConversation(toTranscript(messages, MAX_TRANSCRIPT), 'Write the title now.')
  const { text, isCut, usage } = await askModel(
    provider,
    {
      what: WHAT,
      model,
      system: TITLE_PROMPT,
      messages: [{ role: 'user', content }],
      thinking: false,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
    },
    signal,
  )
  if (isCut) throw toTruncatedError(WHAT)
  return { title: toTitle(unquoted(text)), model, usage }
}

/** Turns text into a title as it is stored: one line, without control sequences, at most 100 characters. */
export function toTitle(text: string): string {
  const line = sanitizeLine(text).trim()
  return [...line].slice(0, MAX_TITLE).join('')
}

/** Removes the quotes, Markdown and prefixes that models add despite the instructions. */
function unquoted(text: string): string {
  const [line = ''] = text.split('\n').filter((each) => each.trim() !== '')
  return line.replace(/^\s*(?:#+\s*|title:\s*)/i, '').replace(/^[\s"'“”«»„*_`]+|[\s"'“”«»„*_`.]+$/g, '')
}

const WHAT = 'Cannot create a title'
const MAX_TRANSCRIPT = 8000
/** A title needs about 20 tokens; the rest is for models that think even when thinking is turned off. */
const MAX_OUTPUT_TOKENS = 2000
const MAX_TITLE = 100
