/**
 * A process that a server leaves behind: `node grandchild.ts [stubborn] [MARK]`. Keeps its standard output and
 * error open. Reports on descriptor 3 that it is ready and closes that. Ends after the life limit of the
 * servers; a stubborn one ignores TERM, INT and HUP until then.
 */
import { closeSync, writeSync } from 'node:fs'
import { limitLife } from './lifecycle.ts'

if (process.argv.includes('stubborn'))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
limitLife()
writeSync(3, 'ready\n')
closeSync(3)
