import { sha256 } from '../core/base/sha256.ts'

/** A row of the table of components and commands that crabup knows by a short name. */
export interface KnownService {
  name: string
  description: string
  /** The npm package it comes in; absent when it is built into this program. */
  package?: string
  /**
   * The arguments with which this program runs it; absent for packages and for built-ins that are not
   * services.
   */
  run?: readonly string[]
}

/** The known short names. Only what exists has a row; any other component is pulled by its package name. */
export const KNOWN_SERVICES: readonly KnownService[] = [
  { name: 'daemon', description: 'Agents, conversations, memory and MCP servers', run: ['daemon', 'run'] },
  { name: 'cron', description: 'Messages to agents on a schedule', run: ['cron', 'run'] },
  { name: 'tui', description: 'The chat in the terminal' },
  { name: 'clock', description: 'Time, time zones and timers as tools', package: 'crabtalk-clock' },
]

/**
 * Returns the name of a service at the service manager. The label for a home other than the default one
 * carries a hash of it, so that two homes never share a unit.
 */
export function toServiceLabel(
  name: string,
  { home, usualHome }: { home: string; usualHome: string },
): string {
  return home === usualHome
    ? `${PREFIX}${name}`
    : `${PREFIX}${name}.${sha256(home).toString('hex').slice(0, 8)}`
}

/**
 * Returns the label of the guard of a home, given the label of one of its services. The guard is not a
 * service: isOurLabel() is false for its label.
 */
export function toGuardLabel(label: string): string {
  return label.replace(/^ai\.crabtalk\.[^.]+/, 'ai.crabtalk-guard')
}

/** Whether a label names a crabtalk service. */
export function isOurLabel(label: string): boolean {
  return label.startsWith(PREFIX)
}

/** The home that a label belongs to, and the default home. */
export interface LabelContext {
  home: string
  usualHome: string
}

/** Parses the service name from a label; undefined for labels of other homes and of other programs. */
export function parseServiceLabel(label: string, context: LabelContext): string | undefined {
  const [before = '', after = ''] = toServiceLabel('\0', context).split('\0')
  if (!label.startsWith(before) || !label.endsWith(after)) return undefined
  const name = label.slice(before.length, after === '' ? undefined : -after.length)
  return /^[a-z0-9-]+$/.test(name) ? name : undefined
}

const PREFIX = 'ai.crabtalk.'
