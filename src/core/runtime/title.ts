import { CrabError } from '../base/errors.ts'
import type { Usage } from '../base/message.ts'
import { sanitize } from '../base/sanitize.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { Provider } from '../provider/types.ts'
import type { SessionLine } from '../storage/types.ts'
import { askModel, toTruncatedError } from './ask-model.ts'
import { quoteConversation, TITLE_PROMPT } from './compaction-prompt.ts'
import { toTranscript } from './transcript.ts'

/** A title that a model proposes; nothing is stored. */
export interface ProposedTitle {
  title: string
  model: string
  usage: Usage | undefined
}

/** Asks the agent's model for a title of what was said first and last. Throws `invalid` when nothing was said. */
export async function proposeTitle(
  { provider, agent, lines }: { provider: Provider; agent: AgentConfig; lines: readonly SessionLine[] },
  signal: AbortSignal,
): Promise<ProposedTitle> {
  const spoken = lines.flatMap((line) =>
    line.kind === 'entry' && line.role !== 'tool' ? [{ ...line, content: line.typed ?? line.content }] : [],
  )
  if (spoken.length === 0) throw new CrabError('invalid', `${WHAT}: nothing was said yet`)
  const model = agent.model ?? provider.defaultModel()
  provider.prepare(model)
  const content = quoteConversation(toTranscript(spoken, MAX_TRANSCRIPT), 'Write the title now.')
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

/** A title as it is stored: one line, nothing a terminal would obey, at most 100 characters. */
export function toTitle(text: string): string {
  const line = sanitize(text).replaceAll(/\s+/g, ' ').trim()
  return [...line].slice(0, MAX_TITLE).join('')
}

/** Models add what they were asked to leave out. */
function unquoted(text: string): string {
  const [line = ''] = text.split('\n').filter((each) => each.trim() !== '')
  return line.replace(/^\s*(?:#+\s*|title:\s*)/i, '').replace(/^[\s"'“”«»„*_`]+|[\s"'“”«»„*_`.]+$/g, '')
}

const WHAT = 'Cannot find a title'
const MAX_TRANSCRIPT = 8000
/** A title needs twenty; models that think cannot be kept from it everywhere. */
const MAX_OUTPUT_TOKENS = 2000
const MAX_TITLE = 100
