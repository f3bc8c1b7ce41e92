import { formatLocation } from '../config/validation-issue.ts'
import type { LoadedCrons } from './cron-file.ts'

/** Formats the problems of the file for people, one per line: `config/crons.toml:7: …`. */
export function problemLines({ problems, broken }: LoadedCrons): string[] {
  const lines = problems.map(({ message, hint, ...place }) => {
    return `${formatLocation(place)}: ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  return broken ? [`${broken.message}; the entries from before hold`, ...lines] : lines
}
