/**
 * Starts a program as npx does: `node npx-like.ts COMMAND ARGS…`. The process tree is a Node process, a shell
 * below it, and the program below that; only the first gets signals, and does not pass them on.
 */
import { spawn } from 'node:child_process'
import { limitLife } from './lifecycle.ts'

limitLife()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
const child = spawn('/bin/sh', ['-c', '"$@"; exit $?', 'sh', ...process.argv.slice(2)], { stdio: 'inherit' })
child.on('exit', (code) => process.exit(code ?? 1))
