import { CrabError } from '../base/errors.ts'
import { groupDigits, pluralize } from '../base/format.ts'
import { takeStart } from '../base/truncate.ts'
import type { ModelEvent, ModelRequest, ToolSpec } from './types.ts'

type Complete = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>

/**
 * Wraps the calls of one provider: when it refuses a request because the description of a tool is too long,
 * the request is repeated with descriptions of the length that it accepts, a notice says so, and later
 * requests keep that length. Other providers get every description whole (ADR 0215).
 */
export function fitDescriptions(complete: Complete): Complete {
  let limit = Number.POSITIVE_INFINITY
  return async function* fitted(request, signal) {
    try {
      return yield* complete(shortenDescriptions(request, limit), signal)
    } catch (reason) {
      const accepted = readRefusedLength(reason)
      const cut = request.tools.filter(({ description }) => description.length > (accepted ?? limit))
      if (accepted === undefined || accepted >= limit || cut.length === 0) throw reason
      limit = accepted
      yield { type: 'notice', message: describeCut(request.model, accepted, cut) }
    }
    yield* complete(shortenDescriptions(request, limit), signal)
  }
}

/** Counts UTF-16 units, of which a text has at least as many as characters. */
function shortenDescriptions(request: ModelRequest, limit: number): ModelRequest {
  const isLong = ({ description }: ToolSpec) => description.length > limit
  if (!request.tools.some(isLong)) return request
  const tools = request.tools.map((tool) => {
    return isLong(tool) ? { ...tool, description: `${takeStart(tool.description, limit - 1)}…` } : tool
  })
  return { ...request, tools }
}

/** Returns the accepted length when a provider refused the description of a tool. */
function readRefusedLength(reason: unknown): number | undefined {
  if (!(reason instanceof CrabError) || reason.kind !== 'invalid') return undefined
  if (!REFUSED.test(reason.message)) return undefined
  const length = Number(LENGTH.exec(reason.message)?.[1]?.replaceAll(',', ''))
  return length >= MIN_LENGTH ? length : undefined
}

function describeCut(model: string, limit: number, cut: readonly ToolSpec[]): string {
  const names = cut.slice(0, MAX_NAMED).map(({ name }) => name)
  const more = cut.length > MAX_NAMED ? ` and ${cut.length - MAX_NAMED} more` : ''
  const whose = `${pluralize(cut.length, 'description')} ${cut.length === 1 ? 'is' : 'are'} cut`
  return `${model} accepts at most ${groupDigits(limit)} characters of a tool's description: ${whose} (${names.join(', ')}${more})`
}

/** `Invalid 'tools[2].function.description': string too long. Expected a string with maximum length 1024, …` */
const REFUSED = /\b(?:tools|functions)\b[\w.[\]]{0,40}\.description\b/
const LENGTH = /(?:maximum length|max(?:imum)? length of|at most|longer than|limit of)\D{0,12}(\d[\d,]{2,6})/i
/** A smaller number is not the length of a description. */
const MIN_LENGTH = 64
const MAX_NAMED = 3
