import { resolve } from 'node:path'
import { type Patch, replaceOnly } from './patch.ts'

const PROVIDER = resolve(import.meta.dirname, '../../src/core/provider')
const MODEL_STREAMS = JSON.stringify(resolve(PROVIDER, 'model-streams.ts'))
const TEXT_JOINER = JSON.stringify(resolve(PROVIDER, 'text-joiner.ts'))

/**
 * Gives the AI SDK packages our own event streams, which cost a fraction of theirs for each event (ADR 0178).
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.js$/, patch: useJsonEvents },
  {
    filter: /[\\/]@ai-sdk[\\/]openai-compatible[\\/]dist[\\/]index\.js$/,
    patch: useTextChunks,
  },
  {
    filter:
      /[\\/]@ai-sdk[\\/](?:openai-compatible[\\/]dist|(?:openai|anthropic|google)[\\/]dist[\\/]internal)[\\/]index\.js$/,
    patch: usePulledStreams,
  },
]

const PARSE_EVENTS = `return stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream$1()).pipeThrough(new TransformStream({ async transform({ data }, controller) {
		if (data === "[DONE]") return;
		controller.enqueue(await safeParseJSON({
			text: data,
			schema
		}));
	} }));`

/**
 * Returns the module with one stream from the bytes to the events, and with synchronous validation; undefined
 * when it does not parse events as expected.
 */
export function useJsonEvents(module: string): string | undefined {
  const parsing = replaceOnly(
    module,
    PARSE_EVENTS,
    `return readJsonEvents(stream, createParser, (text) => {
		return parseKnownEvent(text, secureJsonParse, schema.isKnown) ?? safeParseJSON({ text, schema });
	}, schema.isKnown && new TextJoiner(secureJsonParse));`,
  )
  const imports = `import { parseKnownEvent, readJsonEvents } from ${MODEL_STREAMS}\nimport { TextJoiner } from ${TEXT_JOINER}\nimport { createParser } from "eventsource-parser"\n`
  const validating =
    parsing &&
    replaceOnly(
      parsing,
      'import { safeParseAsync } from "zod/v4";',
      'import { safeParse as safeParseAsync } from "zod/v4";',
    )
  return validating && imports + validating
}

/** Returns the module with a cheaper check of its most frequent events; undefined when it has no such schema. */
export function useTextChunks(module: string): string | undefined {
  const known = replaceOnly(
    module,
    'this.chunkSchema = createOpenAICompatibleChatChunkSchema(errorStructure.errorSchema);',
    'this.chunkSchema = Object.assign(createOpenAICompatibleChatChunkSchema(errorStructure.errorSchema), { isKnown: isTextChunk });',
  )
  return known && `import { isTextChunk } from ${MODEL_STREAMS}\n${known}`
}

/** The start of a pipe through a transformer; the parentheses of the replacement close in the same place. */
const PIPE = /\b(\w+)\.pipeThrough\(new TransformStream\(\{/g

/** Returns the module with transformEvents() for its pipes; undefined when it has none. */
export function usePulledStreams(module: string): string | undefined {
  const pulled = module.replaceAll(PIPE, 'transformEvents($1)(({')
  if (pulled === module) return undefined
  return `import { transformEvents } from ${MODEL_STREAMS}\n${pulled}`
}
