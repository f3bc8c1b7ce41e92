import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('closeInherited() closes what a program inherited, and nothing of its own', () => {
  const program = `
    import { closeSync, openSync, readlinkSync } from 'node:fs'
    import { spawnSync } from 'node:child_process'
    import { closeInherited } from './src/core/process/close-inherited.ts'
    const own = openSync('/dev/zero')
    const list = () => spawnSync('/bin/sh', ['-c', 'readlink /proc/self/fd/* | grep -c /dev/full'], { encoding: 'utf8' }).stdout.trim()
    const before = list()
    closeInherited()
    console.log(before, list(), readlinkSync('/proc/self/fd/' + own))
    await new Promise((resolve) => setTimeout(resolve, 1))
    closeSync(own)`
  const script = 'exec 9>/dev/full 63>/dev/full; exec "$@"'
  const node = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--input-type=module-typescript',
    '-e',
    program,
  ]
  const output = execFileSync('/bin/bash', ['-c', script, 'bash', ...node], { encoding: 'utf8' })
  assert.equal(output, '1 0 /dev/zero\n')
})
