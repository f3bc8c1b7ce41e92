import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { Host } from '../host.ts'

/** How something stands: in order, worth knowing, better changed, or in the way. */
export type CheckStatus = 'ok' | 'note' | 'warning' | 'problem'

/** One line of a report; never holds a secret. */
export interface CheckResult {
  status: CheckStatus
  message: string
  /** What to do. */
  hint?: string
  /** What --fix does about it: only what nobody would object to. */
  fix?: Fix
}

/** Something that can be mended without a question. */
export interface Fix {
  /** What is true afterwards. */
  done: string
  /** Gives false, or throws, when it could not be done. */
  apply(): Promise<unknown>
}

/** What is looked at. */
export interface CheckContext {
  host: Host
  paths: HomePaths
  /** The agents whose files can be used. */
  agents: readonly AgentConfig[]
  /** Whether servers may be started. */
  deep: boolean
}

/** Looks at one thing and changes nothing. What it throws is a problem of its own. */
export type Check = (place: CheckContext, signal: AbortSignal) => Promise<CheckResult[]>

export function ok(message: string): CheckResult {
  return { status: 'ok', message }
}

export function note(message: string, hint?: string): CheckResult {
  return { status: 'note', message, ...(hint !== undefined && { hint }) }
}

export function warning(message: string, hint?: string): CheckResult {
  return { status: 'warning', message, ...(hint !== undefined && { hint }) }
}

export function problem(message: string, hint?: string): CheckResult {
  return { status: 'problem', message, ...(hint !== undefined && { hint }) }
}

/** `2 agents`, `1 agent`. */
export function formatQuantity(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
