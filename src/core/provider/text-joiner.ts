import { isTextChunk } from './model-streams.ts'

/** The result of parsing an event, as `parseKnownEvent` and the AI SDK packages return it. */
type Parsed = { success: boolean; value?: unknown }

/** The parts of a chunk of a chat completion that have text to be joined. */
interface TextChunk {
  choices: [{ delta: { content: string } }]
}

/** The JSON before and after the text of a chunk, from quote to quote. */
interface Template {
  before: string
  after: string
}

/**
 * Joins successive chunks of a chat completion that have only text into the first of them, before anything
 * else is done for each: one read brings some forty.
 *
 * A chunk that differs from the one before only in its text is not parsed again: it has the same JSON before
 * and after its text, and its text is parsed as a JSON string. Texts that fail there, and servers whose
 * chunks differ in more, take the parser.
 */
export class TextJoiner {
  readonly #parseJson: (text: string) => unknown
  #open: TextChunk | undefined
  #template: Template | undefined
  /** The number of templates that no chunk has matched, one after the other. */
  #useless = 0

  constructor(parseJson: (text: string) => unknown) {
    this.#parseJson = parseJson
  }

  /** Joins an event that was not parsed; false when it must be. */
  joinUnparsed(data: string): boolean {
    const text = this.#open && this.#template && readText(data, this.#template)
    if (!this.#open || text === undefined) return false
    this.#open.choices[0].delta.content += text
    this.#useless = 0
    return true
  }

  /** Joins a parsed event; false when it is one of its own, to which the next ones may be joined. */
  join({ success, value }: Parsed, data: string): boolean {
    const chunk = success && isJoinable(value) ? value : undefined
    if (chunk && this.#useless < MAX_USELESS) this.#learn(data)
    const open = this.#open
    if (chunk && open) open.choices[0].delta.content += chunk.choices[0].delta.content
    else this.#open = chunk
    return chunk !== undefined && open !== undefined
  }

  /** Ends the joining, because the last event is passed on. */
  end(): void {
    this.#open = undefined
  }

  #learn(data: string): void {
    this.#useless++
    this.#template = findTemplate(data, this.#parseJson)
  }
}

/** The number of templates that are tried before they are given up for a stream. */
const MAX_USELESS = 4

/** Whether a chunk has text, of one choice, and nothing else that matters. */
function isJoinable(chunk: unknown): chunk is TextChunk {
  if (!isTextChunk(chunk)) return false
  const { choices } = chunk as { choices: { finish_reason?: unknown; delta?: Record<string, unknown> }[] }
  const [choice] = choices
  if (choices.length !== 1 || choice?.finish_reason != null || !choice?.delta) return false
  const { content, role: _, ...others } = choice.delta
  return (
    typeof content === 'string' && content !== '' && Object.values(others).every((value) => value == null)
  )
}

/**
 * Splits the JSON of a chunk around its text; undefined when it is not where it is usually. That another text
 * in its place becomes the text of the chunk proves that any other does, too.
 */
function findTemplate(data: string, parseJson: (text: string) => unknown): Template | undefined {
  const [found, text = ''] = /"content":"((?:[^"\\]|\\.)*)"/.exec(data) ?? []
  if (found === undefined) return undefined
  const start = data.indexOf(found) + '"content":"'.length
  const template = { before: data.slice(0, start), after: data.slice(start + text.length) }
  try {
    const chunk = parseJson(template.before + PROBE + template.after)
    return isJoinable(chunk) && chunk.choices[0].delta.content === PROBE ? template : undefined
  } catch {
    return undefined // every chunk is then parsed
  }
}

const PROBE = 'another text'

/** Returns the text of a chunk that matches the template; undefined for any other event. */
function readText(data: string, { before, after }: Template): string | undefined {
  if (data.length < before.length + after.length) return undefined
  if (!data.startsWith(before) || !data.endsWith(after)) return undefined
  try {
    // a quote that ends the string earlier is an error here
    return JSON.parse(data.slice(before.length - 1, data.length - after.length + 1)) as string
  } catch {
    return undefined
  }
}
