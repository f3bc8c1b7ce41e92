import { takeStart } from '../../base/truncate.ts'
import { toVisible } from '../../base/visible.ts'

/**
 * Ends the analysis of a command on the read-only list that needs confirmation after all. The message is the
 * reason, as a clause for users.
 */
export class Doubt extends Error {
  /** Whether the command may run a program that project files name. */
  readonly startsPrograms: boolean

  constructor(why: string, { startsPrograms = false } = {}) {
    super(why)
    this.startsPrograms = startsPrograms
  }
}

/** Formats text from a project, such as a file name, as one short line. */
export function showText(text: string): string {
  const line = toVisible(text).replaceAll('\n', '␊')
  return line.length > MAX_SHOWN ? `${takeStart(line, MAX_SHOWN)}…` : line
}

/** The maximum number of UTF-16 units shown. */
const MAX_SHOWN = 100

/** The doubt about a read-only command whose files an earlier command of the line may have changed. */
export const CHANGED_BEFORE = 'an earlier command may change what it reads'
