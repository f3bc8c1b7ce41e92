import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTalk, type Talk } from '../support/talk.ts'

const ESC = '\u001b'
const ERASE = `\r${ESC}[2K`
const RED = `${ESC}[31m`
/**
 * Control sequences that a terminal obeys: colors, a title, a moved cursor, an erased screen, a bell, an
 * override.
 */
const NASTY = [
  `${ESC}[31mred`,
  `${ESC}]0;ti`,
  `tle\u0007 `,
  `${ESC}[2J${ESC}[`,
  '1;1Hhere\u0007',
  '\u202eback',
]

test('control sequences of an answer reach a pipe and, only with --raw, a terminal', async () => {
  await using talk = await makeTalk(() => ({ parts: NASTY }))
  assert.equal((await talk.send(['hello'])).stdout, `${NASTY.join('')}\n`)
  assert.equal(await onTerminal(talk, ['send', 'hello']), 'red hereback\r\n')
  assert.equal(await onTerminal(talk, ['send', '--buffer', 'hello']), 'red hereback\r\n')
  assert.equal(await onTerminal(talk, ['send', '--raw', 'hello']), `${NASTY.join('')}\r\n`)
})

test('the status line on a terminal erases itself before the answer, and keeps earlier output', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using talk = await makeTalk([
    { parts: [gates[0]!.promise, 'Let me look.', { call: 'c1', name: 'read', args: '{"path":"a.txt"}' }] },
    { parts: [gates[1]!.promise, 'The answer.'] },
  ])
  await writeFile(join(talk.cwd, 'a.txt'), 'content\n')
  const terminal = talk.terminal(['send', 'hello'])
  await terminal.shows(/crab · scripted …$/)
  gates[0]!.resolve()
  await terminal.shows(/look\.\r\n.*\r.*crab · scripted …$/)
  gates[1]!.resolve()
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  const status = `${ERASE}crab · scripted …${ERASE}`
  assert.equal(terminal.output(), `${status}Let me look.\r\n${status}\r\nThe answer.\r\n`)
})

test('shows no status line with --quiet, on a dumb terminal, or without a terminal on standard error', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using talk = await makeTalk(() => ({ parts: ['text', promise] }))
  const terminals = [
    talk.terminal(['send', '-q', 'hello']),
    talk.terminalShell('TERM=dumb crabtalk send hello'),
    talk.terminalShell('crabtalk send hello 2>errors'),
  ]
  for (const terminal of terminals) await terminal.shows(/text/)
  resolve()
  for (const terminal of terminals) {
    assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
    assert.equal(terminal.output(), 'text\r\n')
  }
})

test('-v lines on a terminal have their own lines', async () => {
  const call = { call: 'c1', name: 'read', args: '{"path":"a.txt"}' }
  await using talk = await makeTalk([{ parts: ['Let me look.', call] }, { parts: ['The answer.'] }])
  assert.match(
    await onTerminal(talk, ['send', '-v', 'hello']),
    /^Let me look\.\r\n✗ read a\.txt · \d+ ms: [^\r]+\r\n\r\nThe answer\.\r\n$/,
  )
})

test('retries are reported on a terminal, and in a pipe with -v only', async () => {
  const replies = [{ status: 503, body: 'busy' }, { parts: ['ok'] }]
  await using talk = await makeTalk((_, index) => replies[index % 2]!)
  const retry = /^crabtalk: retry 1 in \d+ ms: .*busy \(503\)\r?\n(ok\r\n)?$/
  assert.match(await onTerminal(talk, ['send', 'hello']), retry)
  assert.match((await talk.send(['-v', 'hello'])).stderr, retry)
  assert.equal((await talk.send(['hello'])).stderr, '')
})

test('the color of an error follows --color, NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, the terminal and TERM, in this order', async () => {
  await using talk = await makeTalk(() => ({ parts: [] }))
  const piped: [string[], Record<string, string>, boolean][] = [
    [[], {}, false],
    [['--color', 'always'], { NO_COLOR: '1' }, true],
    [['--color', 'never'], { FORCE_COLOR: '1' }, false],
    [[], { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    [[], { NO_COLOR: '', FORCE_COLOR: '1' }, true],
    [[], { CLICOLOR_FORCE: '1' }, true],
    [[], { FORCE_COLOR: '0' }, false],
  ]
  for (const [args, env, colored] of piped) {
    const { stdout, stderr } = await talk.send([...args, 'hello'], { env })
    assert.equal(stderr.includes(RED), colored, JSON.stringify([args, env]))
    assert.equal(stdout, '')
  }
  assert.ok((await onTerminal(talk, ['send', 'hello'])).includes(RED))
  assert.ok(!(await onTerminal(talk, ['send', '--color', 'never', 'hello'])).includes(RED))
  const dumb = talk.terminalShell('TERM=dumb crabtalk send hello; crabtalk send hello 2>errors; cat errors')
  await dumb.finished
  assert.ok(!dumb.output().includes(ESC))
})

async function onTerminal(talk: Talk, args: readonly string[]): Promise<string> {
  const terminal = talk.terminal(args)
  await terminal.finished
  return terminal.output()
}
