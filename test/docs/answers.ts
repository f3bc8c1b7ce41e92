import type { RecordedRequest, Reply } from '../support/model-server.ts'
import type { Part } from '../support/model-wire.ts'

/** Answers a request of the documentation's examples: by patterns in the prompt, otherwise with one word. */
export function answerRequest(request: RecordedRequest): Reply {
  const [said, last] = lastMessages(request)
  if (last === 'tool') return { parts: ['Done.'], usage: USAGE }
  const found = ANSWERS.find(([pattern]) => pattern.test(said))
  return { parts: found ? found[1] : ['Ready.'], usage: USAGE }
}

/** Returns the text of the last user message, and the role of the last message. */
function lastMessages({ json }: RecordedRequest): [said: string, last: string] {
  const messages = json['messages'] as { role: string; content: unknown }[]
  const prompt = messages.findLast(({ role }) => role === 'user')?.content
  const text = Array.isArray(prompt) ? prompt.map(({ text = '' }) => text).join('') : String(prompt)
  return [text, messages.at(-1)?.role ?? '']
}

const USAGE = { input: 20, output: 4 }

const ANSWERS: readonly [RegExp, readonly Part[]][] = [
  [/^Review this change/, ['The comment says nothing: leave it out.']],
  [/walks sideways/, ['The crab.']],
  [/^And shorter/, ['Drop the comment.']],
  [/^Three (words|bullet points)/, ['Up, then down.']],
  [/^How many legs/, ['{"legs":10}']],
  [/^When is the demo/, ['On Friday.']],
  [/^<skill name="explain"[\s\S]*Explain the first line of Makefile to/i, ['It names what is made first.']],
  [/^Run the tests/, [{ call: 'call_1', name: 'bash', args: '{"command":"npm test"}' }]],
]
