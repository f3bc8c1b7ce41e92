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
 * Creates a client of the official SDK. Only this file loads the SDK: import it when a server starts, not
 * before.
 *
 * The client offers elicitation only, which Connection answers; any other request of a server gets "method
 * not found". It does not validate results against schemas: servers' schemas are wrong, refer elsewhere, or
 * take forever to compile. `era` legacy requests nothing newer than 2025-11-25; auto probes for 2026-07-28
 * first and waits `probeMs` for an answer; modern requests nothing else.
 */
export function newClient(era: 'legacy' | 'auto' | 'modern', probeMs: number): Client {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era
  return new Client(
    { name: 'crabtalk', version: VERSION },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: { getValidator: refuseToCheck },
      versionNegotiation: era === 'legacy' ? { mode: era } : { mode, probe: { timeoutMs: probeMs } },
    },
  )
}

/** Classifies a failed request: the server refused it, it can no longer be reached, or anything else. */
export function classifyFailure(reason: unknown): 'refused' | 'gone' | 'other' {
  if (reason instanceof CrabError) return reason.kind === 'unavailable' ? 'gone' : 'other' // thrown by the transport
  if (reason instanceof ProtocolError) return 'refused'
  if (!(reason instanceof SdkError)) return 'other'
  return GONE.has(reason.code) || reason.cause instanceof CrabError ? 'gone' : 'other'
}

/** Whether the server does not know the method. */
export function isUnknownMethod(reason: unknown): boolean {
  return reason instanceof ProtocolError && reason.code === ProtocolErrorCode.MethodNotFound
}

/** Whether a server refused a request because of its headers, before processing it (MCP 2026-07-28). */
export function isHeaderMismatch(reason: unknown): boolean {
  return reason instanceof ProtocolError && reason.code === HEADER_MISMATCH
}

/**
 * Returns the URLs that the user must open before the server does what it was asked (MCP 2025-11-25, error
 * -32042).
 */
export function listElicitationUrls(reason: unknown): JsonObject[] {
  if (!(reason instanceof ProtocolError) || reason.code !== ProtocolErrorCode.UrlElicitationRequired)
    return []
  const { elicitations } = isObject(reason.data) ? reason.data : {}
  return Array.isArray(elicitations) ? elicitations.filter(isObject).slice(0, MAX_ADDRESSES) : []
}

const MAX_ADDRESSES = 3

/**
 * Replaces the SDK's validator, which compiles the servers' schemas. The parts of the SDK in use never
 * request one.
 */
function refuseToCheck(): never {
  throw new Error('results are not checked against schemas')
}

const HEADER_MISMATCH = -32_020
const GONE: ReadonlySet<string> = new Set([SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected])
