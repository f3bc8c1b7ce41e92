import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { request } from '../../src/core/protocol/dispatch.ts'
import type { SessionLine } from '../../src/core/storage/types.ts'
import type { RecordedRequest, Reply } from '../support/model-server.ts'
import { startTestDispatch, systemPrompt, type TestDispatch } from '../support/test-dispatch.ts'
import { requestMessages, toSentLines } from '../support/test-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
const program = join(import.meta.dirname, 'chat-program.ts')
const run = promisify(execFile)
/** The processes wait for each other, and all of them for a busy machine. */
const LONG = { timeout: 300_000 }

/** Replies with a summary, or with text that takes a moment; sometimes with a tool call first. */
function script({ json }: RecordedRequest, index: number): Reply {
  if (systemPrompt(json).startsWith('You compress')) return { parts: ['They talk.'] }
  const look = { call: `c${index}`, name: 'read', args: '{"path":"none"}' }
  return { parts: index % 4 === 0 ? ['Look. ', look] : ['A ', 'word. ', 'Or two.'], paceMs: 3 }
}

test(
  '4 processes that send, steer, cancel, compact and retitle concurrently corrupt nothing',
  LONG,
  async () => {
    await using node = await startTestDispatch(script)
    const names = ['p0', 'p1', 'p2', 'p3']
    const outputs = await Promise.all(
      names.map(
        async (name) => (await run(process.execPath, [program, node.home.paths.home, name, '10'])).stdout,
      ),
    )
    const lines = await readLines(node)
    const words = userWords(lines)
    const reports = (what: string) => outputs.flatMap((output) => readReports(output, what))
    assert.deepEqual(words.toSorted(), reports('stored').toSorted())
    for (const output of outputs) {
      const own = readReports(output, 'stored')
      assert.deepEqual(
        words.filter((text) => own.includes(text)),
        own,
        'each process finds its words in the order in which it said them',
      )
      const steered = readReports(output, 'steered')
      const ended = [...own, ...readReports(output, 'returned')].filter((text) => steered.includes(text))
      assert.deepEqual(ended.toSorted(), steered.toSorted(), 'each steer ends once')
    }
    assert.deepEqual(markers(lines), reports('archived').toSorted(byNumber))
    const { entries } = await node.services.memory.read('crab')
    assert.deepEqual(
      entries.map(({ name }) => name).toSorted(byNumber),
      reports('archived').toSorted(byNumber),
    )
    for (const request of node.server.requests) checkRequest(request)
  },
)

test('a process that is killed between archive and marker leaves the conversation unchanged', async () => {
  await using node = await startTestDispatch(script)
  await node.ask('one')
  const before = await readLines(node)
  const child = spawn(process.execPath, [program, node.home.paths.home, 'crash'], { stdio: 'inherit' })
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])
  const { entries } = await node.services.memory.read('crab')
  assert.equal(entries.length, 1)
  assert.deepEqual(await readLines(node), before)
  await node.ask('two')
  assert.match(toSentLines(node.server.requests.at(-1))[0]!, /^user: one/)
  const { archive } = await request(node.dispatch, 'compact', PAIR, NEVER)
  assert.notEqual(archive, entries[0]?.name)
  await node.ask('three')
  assert.match(toSentLines(node.server.requests.at(-1))[0]!, new RegExp(`archived as "${archive}"`))
})

test('a marker that the disk cannot store leaves the conversation unchanged', async () => {
  await using node = await startTestDispatch(script)
  await node.ask(`one ${'x'.repeat(1_200_000)}`)
  const before = await readLines(node)
  const limited = 'ulimit -f 2000 && exec "$0" "$@"' // one megabyte: the largest size of a file
  const args = [process.execPath, program, node.home.paths.home, 'try']
  assert.equal((await run('sh', ['-c', limited, ...args])).stdout, 'failed storage\n')
  assert.equal((await node.services.memory.read('crab')).entries.length, 1)
  assert.deepEqual(await readLines(node), before)
  const { archive } = await request(node.dispatch, 'compact', PAIR, NEVER)
  assert.deepEqual(markers(await readLines(node)), [archive])
})

test('processes that are killed at any moment lose nothing they reported, and the others continue', async () => {
  await using node = await startTestDispatch(script)
  let shown = ''
  for (let round = 0; round < 2; round++) {
    const children = ['a', 'b'].map((name) =>
      spawn(process.execPath, [program, node.home.paths.home, `${name}${round}`, '1000']),
    )
    for (const { stdout } of children) {
      stdout.on('data', (data) => {
        shown += data
      })
    }
    const goal = readReports(shown, 'stored').length + 8
    await until('they have said something', () => readReports(shown, 'stored').length > goal)
    await Promise.all(children.map(end))
  }
  const lines = await readLines(node)
  const words = userWords(lines)
  for (const text of readReports(shown, 'stored'))
    assert.equal(words.filter((each) => each === text).length, 1, text)
  const { entries } = await node.services.memory.read('crab')
  for (const name of markers(lines)) assert.ok(entries.some((entry) => entry.name === name))
  await node.ask('still there?')
  for (const request of node.server.requests) checkRequest(request)
})

/**
 * Asserts that a provider would accept the request: the user starts, and every call is followed by its
 * result.
 */
function checkRequest(asked: RecordedRequest): void {
  const messages = requestMessages(asked)
  assert.equal(messages[0]?.['role'], 'user')
  for (const [index, { role, tool_calls: calls }] of messages.entries()) {
    if (role === 'user') assert.notEqual(messages[index - 1]?.['role'], 'user')
    if (role !== 'assistant') continue
    for (const offset of Array.isArray(calls) ? calls.keys() : []) {
      assert.equal(messages[index + 1 + offset]?.['role'], 'tool')
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'close')
}

function readReports(output: string, what: string): string[] {
  const whole = output.slice(0, output.lastIndexOf('\n') + 1)
  return whole
    .split('\n')
    .flatMap((line) => (line.startsWith(`${what} `) ? [line.slice(what.length + 1)] : []))
}

async function readLines({ services, dispatch }: TestDispatch): Promise<SessionLine[]> {
  const { id } = await request(dispatch, 'getSession', PAIR, NEVER)
  const { lines, warnings } = await services.stores.storage.read(id)
  assert.deepEqual(warnings, [])
  return lines
}

function userWords(lines: readonly SessionLine[]): string[] {
  return lines.flatMap((line) => (line.kind === 'entry' && line.role === 'user' ? [line.content] : []))
}

function markers(lines: readonly SessionLine[]): string[] {
  return lines.flatMap((line) => (line.kind === 'compact' ? [line.archive_name] : []))
}

function byNumber(a: string, b: string): number {
  return Number(/\d+$/.exec(a)?.[0]) - Number(/\d+$/.exec(b)?.[0])
}
