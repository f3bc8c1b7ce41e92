import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runTool } from '../../../src/core/process/run-tool.ts'
import { processesLeft } from '../../support/processes.ts'
import { until } from '../../support/until.ts'

const env = { PATH: '/usr/bin:/bin', CRAB_TOOL: String(process.pid) }
const { signal } = new AbortController()

test('runTool() returns both streams and the code, with nothing on standard input', async () => {
  const line = 'echo "[$(cat)]"; echo é >&2; exit 3'
  const result = await runTool(['sh', '-c', line], { env }, signal)
  assert.deepEqual(result, { code: 3, signal: null, stdout: '[]\n', stderr: 'é\n' })
})

test('runTool() writes text to standard input, also for a program that does not read it', async () => {
  const { stdout } = await runTool(['cat'], { env, stdin: 'a "b"\n' }, signal)
  assert.equal(stdout, 'a "b"\n')
  const { code } = await runTool(['true'], { env, stdin: 'x'.repeat(1024 * 1024) }, signal)
  assert.equal(code, 0)
})

test('runTool() keeps a limited number of bytes of a stream and reads the rest', async () => {
  const line = 'head -c 200000 /dev/zero; echo end >&2'
  const { stdout, stderr } = await runTool(['sh', '-c', line], { env, maxBytes: 1000 }, signal)
  assert.equal(stdout.length, 1000)
  assert.equal(stderr, 'end\n')
})

test('runTool() fails with missing for an unknown program, and failed where it cannot be started', async () => {
  await assert.rejects(runTool(['no-such-tool'], { env }, signal), { kind: 'missing' })
  await assert.rejects(runTool(['/etc'], { env }, signal), { kind: 'failed' })
})

test('runTool() kills a program that takes too long or is aborted', async () => {
  const sleep = ['sleep', '1000'] as const
  await assert.rejects(runTool(sleep, { env, timeoutMs: 20 }, signal), { kind: 'timeout' })
  const over = new AbortController()
  const running = runTool(sleep, { env }, over.signal)
  await until('it runs', async () => (await processesLeft(`CRAB_TOOL=${process.pid}`)).length === 1)
  over.abort()
  await assert.rejects(running, { kind: 'cancelled' })
  await until('it is gone', async () => (await processesLeft(`CRAB_TOOL=${process.pid}`)).length === 0)
  await assert.rejects(runTool(sleep, { env }, over.signal), { kind: 'cancelled' })
})

test('runTool() does not wait for background processes that hold its pipes', async () => {
  const { stdout } = await runTool(['sh', '-c', 'sleep 1000 & echo $!'], { env }, signal)
  const pid = Number(stdout)
  process.kill(pid, 'SIGKILL')
  await until('it is gone', async () => (await processesLeft(`CRAB_TOOL=${process.pid}`)).length === 0)
})
