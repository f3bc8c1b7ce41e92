import { Agent, get, type IncomingMessage } from 'node:http'
import { createDeferred } from '../deferred.ts'
import { parseObject } from '../json.ts'
import type { JsonObject } from '../message.ts'
import { readNetworkCode } from './network-failure.ts'

/**
 * Returns the answer to `GET /health` on a local port (ADR 0117): its JSON object, empty for a server that does
 * not support it; `refused` when nothing listens; `silent` when no answer comes before the signal aborts. Never
 * rejects. Connects directly, whatever proxy the environment names.
 */
export async function fetchHealth(
  port: number,
  signal: AbortSignal,
): Promise<JsonObject | 'refused' | 'silent'> {
  try {
    const answer = await requestHealth(port, signal)
    if (answer.statusCode !== 200) {
      answer.destroy()
      return {}
    }
    let text = ''
    for await (const piece of answer.setEncoding('utf8')) {
      text += piece
      if (text.length > MAX_CHARS) return {}
    }
    return parseObject(text) ?? {}
  } catch (reason) {
    const code = readNetworkCode(reason)
    if (code === 'ECONNREFUSED') return 'refused'
    return code.startsWith('HPE_') ? {} : 'silent'
  }
}

function requestHealth(port: number, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = createDeferred<IncomingMessage>()
  const agent = new Agent({ keepAlive: false })
  get({ agent, host: '127.0.0.1', port, path: '/health', signal }, resolve).on('error', reject)
  return promise
}

const MAX_CHARS = 64 * 1024
