import { isObject } from '../base/json.ts'

/** A transformer of an event stream: the part of web streams' `Transformer` that the AI SDK packages use. */
export interface EventTransformer<In, Out> {
  start?(controller: EventSink<Out>): void
  transform(event: In, controller: EventSink<Out>): void | Promise<void>
  flush?(controller: EventSink<Out>): void | Promise<void>
}

/** Receives the events of a transformer. */
export type EventSink<Out> = Pick<ReadableStreamDefaultController<Out>, 'enqueue' | 'error'>

/** Creates a parser of server-sent events that calls `onEvent` for each complete event. */
export type CreateEventParser = (config: { onEvent: (event: { data: string }) => void }) => {
  feed(text: string): void
}

/** Joins events that arrived together, before they are passed on. */
export interface EventJoiner<T> {
  /** Appends the text of an unparsed event; returns false when the event must be parsed. */
  joinUnparsed(data: string): boolean
  /**
   * Appends the text of a parsed event; returns false when the event must be passed on. Later events may be
   * appended to it.
   */
  join(event: T, data: string): boolean
  /** Stops appending to the last event, because it is passed on now. */
  end(): void
}

/**
 * Returns the parsed events of a response body, without the `[DONE]` that ends it.
 *
 * The build puts this and transformEvents() into the AI SDK packages, because a chain of TransformStreams
 * costs more than all other work on an event (ADR 0178).
 */
export function readJsonEvents<T>(
  body: ReadableStream<Uint8Array>,
  createParser: CreateEventParser,
  parse: (data: string) => T | Promise<T>,
  joiner?: EventJoiner<T>,
): ReadableStream<T> {
  const decoder = new TextDecoder()
  let found: string[] = []
  const parser = createParser({ onEvent: ({ data }) => data !== '[DONE]' && found.push(data) })
  return pullFrom(body, {
    async transform(bytes: Uint8Array, sink: EventSink<T>) {
      parser.feed(decoder.decode(bytes, { stream: true }))
      const events = found
      found = []
      for (const data of events) {
        if (joiner?.joinUnparsed(data)) continue
        let event = parse(data)
        if (event instanceof Promise) {
          joiner?.end() // the reader runs now
          event = await event
        }
        if (!joiner?.join(event, data)) sink.enqueue(event)
      }
      joiner?.end()
    },
  })
}

/**
 * Parses an event that `isKnown` recognizes as valid, in the form of the package's results; undefined for any
 * other, which the package then parses and validates itself.
 */
export function parseKnownEvent(
  text: string,
  parseJson: (text: string) => unknown,
  isKnown: ((value: unknown) => boolean) | undefined,
): { success: true; value: unknown; rawValue: unknown } | undefined {
  if (!isKnown) return undefined
  try {
    const value = parseJson(text)
    return isKnown(value) ? { success: true, value, rawValue: value } : undefined
  } catch {
    return undefined // the package reports it
  }
}

/**
 * Whether a parsed chunk of a chat completion carries only text or thinking and meets the package's schema:
 * nearly every chunk does, and this costs a tenth of the validation. False for any other chunk, valid or not.
 */
export function isTextChunk(chunk: unknown): boolean {
  if (!isObject(chunk)) return false
  const { id, model, created, usage, choices } = chunk
  const isPlain = isTextOrNone(id) && isTextOrNone(model) && (created == null || typeof created === 'number')
  return isPlain && usage == null && Array.isArray(choices) && choices.every(isTextChoice)
}

function isTextChoice(choice: unknown): boolean {
  if (!isObject(choice) || !isTextOrNone(choice['finish_reason'])) return false
  const { delta } = choice
  if (!isObject(delta)) return delta == null
  const { role, content, reasoning, reasoning_content: thinking, refusal, tool_calls: calls } = delta
  return (
    (role == null || role === 'assistant' || role === '') &&
    isTextOrNone(content) &&
    isTextOrNone(reasoning) &&
    isTextOrNone(thinking) &&
    refusal == null &&
    calls == null
  )
}

function isTextOrNone(value: unknown): boolean {
  return value == null || typeof value === 'string'
}

/**
 * Returns a function that pipes a stream through a transformer, like `pipeThrough(new TransformStream(…))`.
 * The source is read only when an event is asked for and none is waiting, so events that arrived before a
 * failure are delivered before it.
 */
export function transformEvents<In>(
  source: ReadableStream<In>,
): <Out>(transformer: EventTransformer<In, Out>) => ReadableStream<Out> {
  return (transformer) => pullFrom(source, transformer)
}

function pullFrom<In, Out>(
  source: ReadableStream<In>,
  transformer: EventTransformer<In, Out>,
): ReadableStream<Out> {
  const reader = source.getReader()
  let enqueued = 0
  const toSink = (controller: ReadableStreamDefaultController<Out>): EventSink<Out> => ({
    enqueue(event) {
      enqueued++
      controller.enqueue(event)
    },
    error: (reason) => controller.error(reason),
  })
  /** Returns whether the source goes on. */
  const pullOnce = async (sink: EventSink<Out>): Promise<boolean> => {
    const { done, value } = await reader.read()
    try {
      const working = done ? transformer.flush?.(sink) : transformer.transform(value, sink)
      if (working) await working
    } catch (reason) {
      await reader.cancel(reason).catch(() => undefined) // the failure of the transformer is reported
      throw reason
    }
    return !done
  }
  return new ReadableStream<Out>(
    {
      start: (controller) => transformer.start?.(controller),
      async pull(controller) {
        const sink = toSink(controller)
        const before = enqueued
        while (enqueued === before) if (!(await pullOnce(sink))) return controller.close()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
