import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { HomePaths } from '../core/config/paths.ts'
import type { Host } from './host.ts'

/** The severity of a finding: fine, worth knowing, better changed, or blocking. */
export type CheckStatus = 'ok' | 'note' | 'warning' | 'problem'

/** One line of a report; never contains a secret. */
export interface CheckResult {
  status: CheckStatus
  message: string
  /** The advice for the user. */
  hint?: string
  /** The change that --fix makes; only a change that every user would accept. */
  fix?: Fix
}

/** A change that can be made without asking. */
export interface Fix {
  /** Describes the state after the change. */
  done: string
  /** Makes the change; returns false or throws when it was not possible. */
  apply(): Promise<unknown>
}

/** The context of the checks. */
export interface CheckContext {
  host: Host
  paths: HomePaths
  /** The agents whose files are valid. */
  agents: readonly AgentConfig[]
  /** Whether servers may be started. */
  deep: boolean
}

/** Checks one area and changes nothing. An error that it throws counts as a problem. */
export type Check = (context: CheckContext, signal: AbortSignal) => Promise<CheckResult[]>

/** Creates a finding that needs no action. */
export function ok(message: string): CheckResult {
  return { status: 'ok', message }
}

/** Creates a finding that is worth knowing. */
export function note(message: string, hint?: string): CheckResult {
  return { status: 'note', message, ...(hint !== undefined && { hint }) }
}

/** Creates a finding that the user should act on. */
export function warning(message: string, hint?: string): CheckResult {
  return { status: 'warning', message, ...(hint !== undefined && { hint }) }
}

/** Creates a finding that keeps something from working. */
export function problem(message: string, hint?: string): CheckResult {
  return { status: 'problem', message, ...(hint !== undefined && { hint }) }
}
