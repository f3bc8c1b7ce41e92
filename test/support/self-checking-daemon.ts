import { homedir } from 'node:os'
import { processHost } from '../../bin/host.ts'
import { homePaths } from '../../src/core/config/paths.ts'
import { runDaemon } from '../../src/daemon/serve/run-daemon.ts'

// A daemon that continuously checks whether it can still be found.
const paths = homePaths(process.env, { cwd: process.cwd(), homeDir: homedir() })
process.exitCode = await runDaemon(processHost(), { paths, lookMs: 20 })
