import { CrabError } from '../../core/base/errors.ts'
import type { ManagerCommand, ServiceManager } from '../types.ts'

/** How a tool of a service manager failed. */
export interface ToolFailure {
  kind: 'unavailable' | 'credentials' | 'failed'
  /** Whom it was about: `systemd`. */
  manager: string
  argv: ManagerCommand
  code: number | null
  stdout: string
  stderr: string
}

/** What such a tool said, as an error: its first line, and the command, so that a person can run it again. */
export function toolError({ kind, manager, argv, code, stdout, stderr }: ToolFailure): CrabError {
  const said = firstLine(stderr) || firstLine(stdout) || `${argv[0]} ended with ${code ?? 'a signal'}`
  const what =
    kind === 'unavailable'
      ? `Cannot reach ${manager}`
      : `Cannot have ${manager} run ${argv.slice(1).join(' ')}`
  return new CrabError(kind, `${what}: ${said}`, { hint: `see what ${argv.join(' ')} says` })
}

/** The note of a service manager and what it learned since, as one clause. */
export function joinNotes(...notes: readonly (string | undefined)[]): ServiceManager['note'] {
  const known = notes.filter((note) => note !== undefined)
  return known.length === 0 ? undefined : known.join('; ')
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.trim()
}
