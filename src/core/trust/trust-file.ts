import * as z from 'zod/mini'
import type { JsonObject } from '../base/message.ts'
import { checkValue, filledString, strictTable } from '../config/schema.ts'
import type { Result, ValidationIssue } from '../config/validation-issue.ts'

/**
 * The state of a folder: `trusted` and `untrusted` are answers of the user; `notified` means that the user was told that
 * its files are used.
 */
export const TRUST_STATES = ['trusted', 'untrusted', 'notified'] as const

const project = strictTable({
  path: filledString(),
  state: z.enum(TRUST_STATES),
  since: z.string(),
  notices: z._default(z.array(z.string()), []),
})

const trustFile = strictTable({ project: z._default(z.array(project), []) })

/** The entry of a folder in trust.toml, with the keys of the file. */
export interface ProjectTrust {
  /** Absolute, links resolved. */
  path: string
  state: (typeof TRUST_STATES)[number]
  /** When the state was set, ISO 8601. */
  since: string
  /** The notices about its files that the user has seen, by path below the folder. */
  notices: string[]
}

/** The content of trust.toml; of two tables with one path the first counts. */
export interface TrustFile {
  project: ProjectTrust[]
}

/** Checks the content of trust.toml. */
export function checkTrustFile(table: JsonObject): Result<TrustFile, ValidationIssue> {
  return checkValue(trustFile, table)
}
