/**
 * Starts a program as npx does: `node npx-like.ts COMMAND ARGS…`. A Node process that stays, a shell below it, the program
 * below that; signals reach the first only, and are not passed on.
 */
import { spawn } from 'node:child_process'
import { limitLife } from './life.ts'

limitLife()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
const child = spawn('/bin/sh', ['-c', '"$@"; exit $?', 'sh', ...process.argv.slice(2)], { stdio: 'inherit' })
child.on('exit', (code) => process.exit(code ?? 1))
