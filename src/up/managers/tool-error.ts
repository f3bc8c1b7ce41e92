import { CrabError } from '../../core/base/errors.ts'
import type { ManagerCommand, ServiceManager } from '../types.ts'

/** A failed run of a service manager's tool. */
export interface ToolFailure {
  kind: 'unavailable' | 'credentials' | 'failed'
  /** The name of the service manager in messages, such as `systemd`. */
  manager: string
  argv: ManagerCommand
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Builds the error for a failed tool run: the first line of its output, and the command as a hint so that the
 * user can run it again.
 */
export function toolError({ kind, manager, argv, code, stdout, stderr }: ToolFailure): CrabError {
  const output = firstLine(stderr) || firstLine(stdout) || `${argv[0]} ended with ${code ?? 'a signal'}`
  const what =
    kind === 'unavailable'
      ? `Cannot reach ${manager}`
      : `Cannot make ${manager} run ${argv.slice(1).join(' ')}`
  return new CrabError(kind, `${what}: ${output}`, { hint: `see what ${argv.join(' ')} says` })
}

/** Joins the notes of a service manager into one clause; undefined when there are none. */
export function joinNotes(...notes: readonly (string | undefined)[]): ServiceManager['note'] {
  const known = notes.filter((note) => note !== undefined)
  return known.length === 0 ? undefined : known.join('; ')
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.trim()
}
