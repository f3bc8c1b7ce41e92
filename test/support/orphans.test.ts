import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { endLiving, leftAfter, livingWith } from './orphans.ts'
import { until } from './until.ts'

test('livingWith() finds a mark on the command line and one in the environment', async () => {
  const mark = randomUUID()
  const named = spawn('/bin/sh', ['-c', 'read line', 'sh', `--mark=${mark}`])
  const marked = spawn('/bin/sh', ['-c', 'read line'], { env: { MARK: `x${mark}y` } })
  const other = spawn('/bin/sh', ['-c', 'read line'])
  await until('all are found', async () => (await livingWith(mark)).length === 2)
  assert.deepEqual(
    (await livingWith(mark)).map(({ pid, parent, carries }) => ({ pid, parent, carries })),
    [
      { pid: named.pid, parent: process.pid, carries: 'argument' },
      { pid: marked.pid, parent: process.pid, carries: 'environment' },
    ],
  )
  for (const child of [named, marked, other]) child.stdin.end()
  assert.deepEqual(await leftAfter(mark, 30_000), [])
})

test('livingWith() leaves out a zombie', async () => {
  const mark = randomUUID()
  // the shell becomes sleep, which never collects its child
  const parent = spawn('/bin/sh', [
    '-c',
    'exec 3<&0; sh -c "read line" $0 <&3 & echo $!; exec sleep 60',
    mark,
  ])
  const [line] = await once(parent.stdout, 'data')
  const child = Number(String(line))
  await until('the child is found', async () => (await livingWith(mark)).some(({ pid }) => pid === child))
  parent.stdin.end()
  await until('only its parent is left', async () =>
    (await livingWith(mark)).every(({ pid }) => pid !== child),
  )
  parent.kill('SIGKILL')
})

test('leftAfter() returns what is left after the time limit', async () => {
  const mark = randomUUID()
  const child = spawn('/bin/sh', ['-c', 'read line', mark])
  await until('it is found', async () => (await livingWith(mark)).length === 1)
  assert.deepEqual(
    (await leftAfter(mark, 1)).map(({ pid }) => pid),
    [child.pid],
  )
  child.kill('SIGKILL')
})

test('endLiving() also kills processes that ignore signals, and returns them', async () => {
  const mark = randomUUID()
  const child = spawn('/bin/sh', [
    '-c',
    'trap "" TERM INT HUP; echo ready; while :; do read line; done',
    mark,
  ])
  await once(child.stdout, 'data')
  const ended = await endLiving(mark)
  assert.deepEqual(
    ended.map(({ pid }) => pid),
    [child.pid],
  )
  assert.deepEqual(await livingWith(mark), [])
})
