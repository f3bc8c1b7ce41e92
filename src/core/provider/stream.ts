import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import type { JsonObject, Usage } from '../base/message.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { type CallTarget, toBrokenStreamError, toModelError } from './model-error.ts'
import type { FinishReason, ModelEvent, ModelRequest } from './types.ts'

/** The inputs of one call on a wire. */
export interface WireCall {
  endpoint: ModelEndpoint
  request: ModelRequest
  fetch: typeof globalThis.fetch
}

/** An SDK model and the options of a call. */
export interface SdkStream {
  model: LanguageModelV4
  options: LanguageModelV4CallOptions
  target: CallTarget
}

/**
 * Streams one call of an SDK model as ModelEvents; every error is a CrabError.
 *
 * Aborting closes the connection through `fetch`, and so does leaving the iteration.
 */
export async function* streamModel(
  { model, options, target }: SdkStream,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  try {
    const { stream } = await model.doStream({ ...options, abortSignal: signal })
    yield* readParts(stream, target)
  } catch (reason) {
    throw toModelError(reason, target, signal)
  }
}

/**
 * Yields events as they arrive. Deltas that arrive within one turn of the event loop, as those of one read
 * do, are merged.
 */
async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  target: CallTarget,
): AsyncGenerator<ModelEvent> {
  const reader = stream.getReader()
  const translator = new Translator(target)
  let open: Delta | undefined
  let turn: Promise<false> | undefined
  try {
    for (;;) {
      const read = reader.read()
      if (open && !(await arrivesThisTurn(read, turn!))) {
        yield open
        open = undefined
      }
      const { done, value } = await read
      if (open && !continuesDelta(open, value)) {
        yield open
        open = undefined
      }
      if (done) throw toBrokenStreamError(target)
      const event = translator.toEvent(value)
      if (event === undefined) continue
      if (event.type === 'text' || event.type === 'thinking') {
        turn = open ? turn : waitForImmediate()
        open = open ? { ...open, delta: open.delta + event.delta } : event
        continue
      }
      yield event
      if (event.type === 'finish') return await drain(reader)
    }
  } finally {
    await reader.cancel().catch(() => undefined) // read() has reported the error of a failed stream
  }
}

type Delta = Extract<ModelEvent, { type: 'text' | 'thinking' }>

/**
 * Whether a read completes before the next turn of the event loop. False for a failure, so that pending data
 * is yielded before it.
 */
function arrivesThisTurn(read: Promise<unknown>, turn: Promise<false>): Promise<boolean> {
  return Promise.race([
    read.then(
      () => true,
      () => false,
    ),
    turn,
  ])
}

function waitForImmediate(): Promise<false> {
  return new Promise((resolve) => setImmediate(() => resolve(false)))
}

function continuesDelta({ type }: Delta, part: LanguageModelV4StreamPart | undefined): boolean {
  return part?.type === (type === 'text' ? 'text-delta' : 'reasoning-delta')
}

/** Reads the rest of a stream for a short time, so that the connection can be reused by the next call. */
async function drain(reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>): Promise<void> {
  const timer = setTimeout(() => reader.cancel().catch(() => undefined), LINGER_MS)
  try {
    while (!(await reader.read()).done);
  } catch {
    // the answer is complete; a connection that breaks now is only lost for reuse
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Converts stream parts to events; collects the metadata of a thinking block and records whether a tool was
 * called.
 */
class Translator {
  readonly #target: CallTarget
  #meta: SharedV4ProviderMetadata = {}
  #hasCalls = false

  constructor(target: CallTarget) {
    this.#target = target
  }

  /**
   * Returns undefined for parts that have no event. Throws the content of an error part, and an error for a
   * finish that is not one.
   */
  toEvent(part: LanguageModelV4StreamPart): ModelEvent | undefined {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? undefined : { type: 'text', delta: part.delta }
      case 'reasoning-start':
        this.#meta = part.providerMetadata ?? {}
        return undefined
      case 'reasoning-delta':
        Object.assign(this.#meta, part.providerMetadata)
        return part.delta === '' ? undefined : { type: 'thinking', delta: part.delta }
      case 'reasoning-end':
        Object.assign(this.#meta, part.providerMetadata)
        return { type: 'thinking-end', ...toMeta(this.#meta) }
      case 'tool-call':
        this.#hasCalls = true
        return {
          type: 'tool-call',
          call: {
            id: part.toolCallId,
            name: part.toolName,
            arguments: part.input,
            ...toMeta(part.providerMetadata ?? {}),
          },
        }
      case 'finish':
        return this.#toFinish(part.finishReason, part.usage)
      case 'error':
        throw part.error
      default:
        return undefined
    }
  }

  #toFinish({ unified, raw }: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): ModelEvent {
    const reason = REASONS[unified]
    if (reason === undefined || (reason === 'other' && raw === undefined))
      throw toBrokenStreamError(this.#target, raw)
    return {
      type: 'finish',
      reason: this.#hasCalls && reason === 'stop' ? 'tool-calls' : reason,
      usage: toUsage(usage),
    }
  }
}

/** A reason that is absent here means that the stream ended without the server saying so. */
const REASONS: Partial<Record<LanguageModelV4FinishReason['unified'], FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'refused',
  'tool-calls': 'tool-calls',
  other: 'other',
}

const LINGER_MS = 100

function toMeta(metadata: SharedV4ProviderMetadata): { meta?: JsonObject } {
  return Object.keys(metadata).length > 0 ? { meta: { ...metadata } } : {}
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return undefined
  return {
    input: inputTokens.total,
    output: outputTokens.total,
    cache_read: inputTokens.cacheRead ?? 0,
    cache_write: inputTokens.cacheWrite ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  }
}
