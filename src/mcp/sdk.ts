import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client'
import { CrabError } from '../core/base/errors.ts'
import { VERSION } from '../core/base/version.ts'

/**
 * A client of the official SDK, the only file that loads it: import this one when a server starts, not before.
 *
 * It offers no capabilities, so that a server's requests are answered with "method not found", and it checks no output
 * against a schema: servers' schemas are wrong, refer elsewhere, or take for ever. `era` legacy asks for nothing newer
 * than 2025-11-25; auto asks for 2026-07-28 first and waits so long for an answer; modern asks for nothing else.
 */
export function newClient(era: 'legacy' | 'auto' | 'modern', questionMs: number): Client {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era
  return new Client(
    { name: 'crabtalk', version: VERSION },
    {
      capabilities: {},
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: { getValidator: refuseToCheck },
      versionNegotiation: era === 'legacy' ? { mode: era } : { mode, probe: { timeoutMs: questionMs } },
    },
  )
}

/** What a failed request means: the server said no, it can no longer be reached, or anything else. */
export function kindOfFailure(reason: unknown): 'refused' | 'gone' | 'other' {
  if (reason instanceof CrabError) return 'gone' // the transport's
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

/** In the place of the SDK's own validator, which compiles what servers write. Nothing we use of the SDK asks for one. */
function refuseToCheck(): never {
  throw new Error('results are not checked against schemas')
}

const HEADER_MISMATCH = -32_020
const GONE: ReadonlySet<string> = new Set([SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected])
