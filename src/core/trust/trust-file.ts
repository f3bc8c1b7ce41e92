import * as z from 'zod/mini'
import type { JsonObject } from '../base/message.ts'
import { checkValue, filledString, strictTable } from '../config/schema.ts'
import type { Result, ValidationIssue } from '../config/validation-issue.ts'

/**
 * The states of a folder. `trusted` and `untrusted` are answers of the user; `notified` means that the user
 * was informed that its files are used.
 */
const TRUST_STATES = ['trusted', 'untrusted', 'notified'] as const

const project = strictTable({
  path: filledString(),
  state: z.enum(TRUST_STATES),
  since: z.string(),
  notices: z._default(z.array(z.string()), []),
})

const serverFile = strictTable({
  path: filledString(),
  state: z.enum(['trusted', 'untrusted']),
  digest: filledString(),
  since: z.string(),
  servers: z._default(z.array(z.string()), []),
})

const trustFile = strictTable({
  project: z._default(z.array(project), []),
  server_file: z._default(z.array(serverFile), []),
})

/** The entry of a folder in trust.toml, with the keys of the file. */
export interface ProjectTrust {
  /** The path of the folder, absolute, with links resolved. */
  path: string
  state: (typeof TRUST_STATES)[number]
  /** The time at which the state was set, ISO 8601. */
  since: string
  /** The notices about its files that the user has seen, by path below the folder. */
  notices: string[]
}

/** The user's answer about a project's file of MCP servers, with the keys of trust.toml. */
export interface ServerFileTrust {
  /** The path of the file, absolute, with the links of its folder resolved. */
  path: string
  state: 'trusted' | 'untrusted'
  /** The SHA-256 of the content that the answer is about, in hexadecimal digits. */
  digest: string
  /** The time of the answer, ISO 8601. */
  since: string
  /** The servers as they were, without secrets, so that a later question can show what changed. */
  servers: readonly string[]
}

/** The content of trust.toml. If two tables of a list have the same path, the first one counts. */
export interface TrustFile {
  project: ProjectTrust[]
  server_file: ServerFileTrust[]
}

/** Validates the content of trust.toml. */
export function checkTrustFile(table: JsonObject): Result<TrustFile, ValidationIssue> {
  return checkValue(trustFile, table)
}
