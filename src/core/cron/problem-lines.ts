import { formatPlace } from '../config/problem.ts'
import type { StandingCrons } from './cron-file.ts'

/** What is wrong with the file, for people, one line each: `config/crons.toml:7: …`. */
export function problemLines({ problems, broken }: StandingCrons): string[] {
  const lines = problems.map(({ message, hint, ...place }) => {
    return `${formatPlace(place)}: ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  return broken ? [`${broken.message}; the entries from before hold`, ...lines] : lines
}
