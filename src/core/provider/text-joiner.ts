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
 * Joins consecutive chunks of a chat completion that contain only text into the first one, before any other
 * work is done for each. One read often has about 40.
 *
 * A chunk that differs from the previous one only in its text is not parsed: the JSON around the text is
 * compared, and the text alone is parsed. Texts that are not valid JSON strings, and chunks that differ in
 * more, are parsed in full.
 */
export class TextJoiner {
  readonly #parseJson: (text: string) => unknown
  #open: TextChunk | undefined
  #template: Template | undefined
  /** The number of consecutive templates that no chunk has matched. */
  #unmatched = 0

  constructor(parseJson: (text: string) => unknown) {
    this.#parseJson = parseJson
  }

  /** Appends the text of an unparsed event; returns false when the event must be parsed. */
  joinUnparsed(data: string): boolean {
    const text = this.#open && this.#template && readText(data, this.#template)
    if (!this.#open || text === undefined) return false
    this.#open.choices[0].delta.content += text
    this.#unmatched = 0
    return true
  }

  /**
   * Appends the text of a parsed event; returns false when the event must be passed on. Later events may be
   * appended to it.
   */
  join({ success, value }: Parsed, data: string): boolean {
    const chunk = success && isJoinable(value) ? value : undefined
    if (chunk && this.#unmatched < MAX_UNMATCHED) this.#learn(data)
    const open = this.#open
    if (chunk && open) open.choices[0].delta.content += chunk.choices[0].delta.content
    else this.#open = chunk
    return chunk !== undefined && open !== undefined
  }

  /** Stops appending to the last event, because it is passed on now. */
  end(): void {
    this.#open = undefined
  }

  #learn(data: string): void {
    this.#unmatched++
    this.#template = findTemplate(data, this.#parseJson)
  }
}

/** The number of templates that are tried before they are given up for a stream. */
const MAX_UNMATCHED = 4

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
 * Splits the JSON of a chunk around its text; undefined when the text is not found. A probe in place of the
 * text confirms the position.
 */
function findTemplate(data: string, parseJson: (text: string) => unknown): Template | undefined {
  try {
    const [found, text = ''] = /"content":"((?:[^"\\]|\\.)*)"/.exec(data) ?? [] // throws for texts of megabytes
    if (found === undefined) return undefined
    const start = data.indexOf(found) + '"content":"'.length
    const template = { before: data.slice(0, start), after: data.slice(start + text.length) }
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
