import { get } from 'node:http'
import { isObject } from '../../core/base/json.ts'
import type { Health } from './types.ts'

/**
 * Returns the health of the component on a local port; undefined when none answers within two seconds. Never
 * rejects.
 */
export function fetchHealth(port: number, signal: AbortSignal): Promise<Health | undefined> {
  return new Promise((resolve) => {
    const nothing = () => resolve(undefined)
    const either = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
    const request = get({ host: '127.0.0.1', port, path: '/health', agent: false, signal: either })
    request.once('error', nothing)
    request.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > MAX_CHARS) request.destroy()
      })
      response.once('end', () => resolve(parseHealth(text)))
      response.once('error', nothing)
    })
  })
}

function parseHealth(text: string): Health | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return undefined
    const { name, version, pid, started } = value
    const isHealth =
      [name, version, started].every((one) => typeof one === 'string') && typeof pid === 'number'
    return isHealth ? ({ name, version, pid, started } as Health) : undefined
  } catch {
    return undefined // another program's server
  }
}

const ANSWER_MS = 2_000
const MAX_CHARS = 4_096
