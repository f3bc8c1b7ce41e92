import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { VERSION } from '../../core/base/version.ts'

/**
 * A client of the official SDK, the only file that loads it: import this one when a server starts, not before.
 *
 * Of what a server may ask for it offers questions to a person, which Connection answers; anything else is answered with
 * "method not found". It checks no output against a schema: servers' schemas are wrong, refer elsewhere, or take for ever. `era` legacy asks for nothing newer
 * than 2025-11-25; auto asks for 2026-07-28 first and waits so long for an answer; modern asks for nothing else.
 */
export function newClient(era: 'legacy' | 'auto' | 'modern', questionMs: number): Client {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era
  return new Client(
    { name: 'crabtalk', version: VERSION },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: { getValidator: refuseToCheck },
      versionNegotiation: era === 'legacy' ? { mode: era } : { mode, probe: { timeoutMs: questionMs } },
    },
  )
}

/** What a failed request means: the server said no, it can no longer be reached, or anything else. */
export function classifyFailure(reason: unknown): 'refused' | 'gone' | 'other' {
  if (reason instanceof CrabError) return reason.kind === 'unavailable' ? 'gone' : 'other' // the transport's
  if (reason instanceof ProtocolError) return 'refused'
  if (!(reason instanceof SdkError)) return 'other'
  return GONE.has(reason.code) || reason.cause instanceof CrabError ? 'gone' : 'other'
}

/** Whether the server says that it knows no such method. */
export function isUnknownMethod(reason: unknown): boolean {
  return reason instanceof ProtocolError && reason.code === ProtocolErrorCode.MethodNotFound
}

/** Whether a server refuses a request for its headers, before it looks at anything else (MCP 2026-07-28). */
export function isHeaderMismatch(reason: unknown): boolean {
  return reason instanceof ProtocolError && reason.code === HEADER_MISMATCH
}

/** The addresses that a server wants to be opened before it does what it was asked (MCP 2025-11-25, error -32042). */
export function listElicitationUrls(reason: unknown): JsonObject[] {
  if (!(reason instanceof ProtocolError) || reason.code !== ProtocolErrorCode.UrlElicitationRequired)
    return []
  const { elicitations } = isObject(reason.data) ? reason.data : {}
  return Array.isArray(elicitations) ? elicitations.filter(isObject).slice(0, MOST_ADDRESSES) : []
}

const MOST_ADDRESSES = 3

/** In the place of the SDK's own validator, which compiles what servers write. Nothing we use of the SDK asks for one. */
function refuseToCheck(): never {
  throw new Error('results are not checked against schemas')
}

const HEADER_MISMATCH = -32_020
const GONE: ReadonlySet<string> = new Set([SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected])
