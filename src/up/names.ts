import { sha256 } from '../core/base/sha256.ts'

/** A row of the table of what crabup knows by a short name (RFC 0184). */
export interface KnownService {
  name: string
  description: string
  /** The npm package it comes in; absent for what is inside this program. */
  package?: string
  /** Of what is inside this program: the words behind it that run it, absent for what is no service. */
  run?: readonly string[]
}

/** Only what exists has a row; anything else is pulled by the name of its package. */
export const KNOWN_SERVICES: readonly KnownService[] = [
  { name: 'daemon', description: 'Agents, conversations, memory and MCP servers', run: ['daemon', 'run'] },
  { name: 'cron', description: 'Skills on a schedule', run: ['cron', 'run'] },
  { name: 'tui', description: 'The chat in the terminal' },
  { name: 'clock', description: 'Time, time zones and timers as tools', package: 'crabtalk-clock' },
]

const PREFIX = 'ai.crabtalk.'

/** What the service manager calls a service. That of a home which is not the usual one has a mark of it, so that two homes never share a unit. */
export function toServiceLabel(
  name: string,
  { home, usualHome }: { home: string; usualHome: string },
): string {
  return home === usualHome
    ? `${PREFIX}${name}`
    : `${PREFIX}${name}.${sha256(home).toString('hex').slice(0, 8)}`
}

/** The label of the guard of a home, by that of one of its services. It is no service: isOurLabel() does not hold for it. */
export function toGuardLabel(label: string): string {
  return label.replace(/^ai\.crabtalk\.[^.]+/, 'ai.crabtalk-guard')
}

/** Whether a label is one of ours. */
export function isOurLabel(label: string): boolean {
  return label.startsWith(PREFIX)
}
