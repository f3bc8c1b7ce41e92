/**
 * A process that a server leaves behind: `node grandchild.ts [stubborn] [MARK]`.
 *
 * Keeps the standard output and error it was given open. Reports that it is ready on descriptor 3 and closes
 * that. Ends after the life limit of the servers; a stubborn one ignores TERM, INT and HUP until then.
 */
import { closeSync, writeSync } from 'node:fs'
import { limitLife } from './life.ts'

if (process.argv.includes('stubborn'))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
limitLife()
writeSync(3, 'ready\n')
closeSync(3)
