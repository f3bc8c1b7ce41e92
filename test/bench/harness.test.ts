import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { interleave, type Program } from '../../bench/harness.ts'

const node = (name: string, script: string, more: Partial<Program> = {}): Program => ({
  name,
  command: process.execPath,
  args: ['-e', script],
  ...more,
})
const RUNS = { rounds: 1, cwd: tmpdir() }

test('interleave() continues without a program that may fail, and reports why it was not measured', async () => {
  const broken = node('broken', 'process.exit(3)', { mayFail: true })
  const failures = new Map<string, string>()
  const good = node('good', 'console.log(1)', { expects: /1/ })
  const figures = await interleave([broken, good], { ...RUNS, failures })
  assert.match(failures.get('broken') ?? '', /^Cannot measure broken: exit 3/)
  assert.equal(figures.get('broken')?.runs, 0)
  assert.equal(figures.get('good')?.runs, 1)
})

test('interleave() fails when one of our own programs fails', async () => {
  await assert.rejects(interleave([node('ours', 'process.exit(3)')], RUNS), /Cannot measure ours: exit 3/)
})
