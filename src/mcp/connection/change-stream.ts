import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'

interface ChangeStreamOptions {
  client: Pick<Client, 'listen'>
  /** Resolves when the server can no longer be reached. Never rejects. */
  ended: Promise<unknown>
  onToolsChanged(): void
}

/**
 * Subscribes to list changes of a server of MCP 2026-07-28, which sends them only over such a stream, until
 * the server ends. A server that refuses the first request is not asked again. A stream that ends, as quiet
 * ones do after a while, is reopened with exponential back-off; each reopening counts as a change, because
 * one may have been missed. Never rejects.
 */
export async function listenForChanges({
  client,
  ended,
  onToolsChanged,
}: ChangeStreamOptions): Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  void ended.then(() => stop.abort())
  const listen = () => client.listen({ toolsListChanged: true }, { signal }).catch(() => undefined)
  let stream = await listen()
  if (!stream) return
  for (let delayMs = FIRST_DELAY_MS; !signal.aborted; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
    const since = performance.now()
    await stream?.closed
    if (performance.now() - since > LASTS_MS) delayMs = FIRST_DELAY_MS
    await sleep(delayMs, undefined, { ref: false, signal }).catch(() => undefined)
    stream = signal.aborted ? undefined : await listen()
    if (stream) onToolsChanged()
  }
}

const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 300_000
/** A stream that was open for longer than this did not fail. */
const LASTS_MS = 30_000
