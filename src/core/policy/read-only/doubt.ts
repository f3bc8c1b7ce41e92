import { takeStart } from '../../base/truncate.ts'
import { toVisible } from '../../base/visible.ts'

/**
 * Ends the analysis of a command of the read-only list that is asked about all the same; the message is the reason, as a
 * clause for people.
 */
export class Doubt extends Error {
  /** Whether the command may run a program that files of the project name. */
  readonly startsPrograms: boolean

  constructor(why: string, { startsPrograms = false } = {}) {
    super(why)
    this.startsPrograms = startsPrograms
  }
}

/** Shows text of a project, such as a file name, in one short line. */
export function showText(text: string): string {
  const line = toVisible(text).replaceAll('\n', '␊')
  return line.length > MAX_SHOWN ? `${takeStart(line, MAX_SHOWN)}…` : line
}

/** The most UTF-16 units that are shown. */
const MAX_SHOWN = 100
