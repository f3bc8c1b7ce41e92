import { CrabError } from '../../src/core/base/errors.ts'
import { wireAt } from '../../src/core/provider/address.ts'
import type { ModelEndpoint } from '../../src/core/provider/endpoint.ts'
import type { ModelEvent, ModelRequest, ToolSpec } from '../../src/core/provider/types.ts'

/** Builds an endpoint at a test server, with timeouts for a loaded machine and without retries. */
export function endpointAt(baseUrl: string, more: Partial<ModelEndpoint> = {}): ModelEndpoint {
  const { kind = 'openai-compatible' } = more
  return {
    name: 'test',
    kind,
    wire: wireAt(kind, baseUrl),
    baseUrl,
    apiKey: 'sk-secret-0123456789',
    keyFrom: 'TEST_API_KEY',
    where: 'config.toml:3',
    timeoutMs: 20_000,
    idleMs: 20_000,
    maxRetries: 0,
    ...more,
  }
}

/** Builds a request, by default one that says `hi`. */
export function modelRequest(more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'scripted', system: '', messages: [{ role: 'user', content: 'hi' }], tools: [], ...more }
}

/** A tool that takes a path. */
export const READ_TOOL: ToolSpec = {
  name: 'read',
  description: 'Read a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}

/** Returns all events of a call that succeeds. */
export async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  return await Array.fromAsync(events)
}

/** Returns the events of a call before its failure, and the failure, which must be a CrabError. */
export async function collectFailure(
  events: AsyncIterable<ModelEvent>,
): Promise<{ events: ModelEvent[]; error: CrabError }> {
  const seen: ModelEvent[] = []
  try {
    for await (const event of events) seen.push(event)
  } catch (reason) {
    if (reason instanceof CrabError) return { events: seen, error: reason }
    throw reason
  }
  throw new Error(`The call went well: ${JSON.stringify(seen)}`)
}

/** Returns the text of an answer. */
export function joinText(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.delta : '')).join('')
}
