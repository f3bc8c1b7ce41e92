import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BEHAVIOURS, misbehavingEntry } from './mcp-servers.ts'
import { formatOptions, parseOptions, type ServerOptions } from './options.ts'

test('parseOptions() reads what formatOptions() writes', () => {
  const all: Required<ServerOptions> = {
    name: 'n m',
    mark: '-m=1',
    starts: '/tmp/s',
    record: '/tmp/r',
    at: { start: 'crash', 'tools/list': 'hang' },
    first: 2,
    delay: { exit: 5, initialize: 10 },
    late: { 'server/discover': 'initialize' },
    ignore: ['eof', 'SIGTERM'],
    grandchild: ['plain', 'session+stubborn'],
    noise: ['text', 'bom'],
    huge: 10,
    flood: 20,
    era: 'both',
    protocol: '1999-12-31',
    capabilities: { tools: { listChanged: false } },
    answers: ['twice'],
    ask: ['ping', 'roots/list'],
    tools: ['odd', 'few'],
    pages: 3,
    cursor: 'endless',
    loop: true,
  }
  assert.deepEqual(parseOptions(formatOptions(all)), all)
  for (const behaviour of Object.values(BEHAVIOURS))
    assert.deepEqual(parseOptions(formatOptions(behaviour)), behaviour)
})

test('parseOptions() rejects unknown options', () => {
  for (const word of ['--what=1', '--at=start=dance', '--noise=loud', '--pages=', '--first=x', 'bare'])
    assert.throws(() => parseOptions([word]), TypeError, word)
})

test('misbehavingEntry() has absolute paths, direct and wrapped', () => {
  const direct = misbehavingEntry({ pages: 2 })
  const wrapped = misbehavingEntry({ pages: 2 }, { wrapped: true, name: 'w', env: { A: 'b' }, cwd: '/' })
  assert.equal(direct.command, process.execPath)
  assert.match(direct.args[0]!, /^\/.*\/misbehaving-server\.\w+$/)
  assert.deepEqual(wrapped, {
    name: 'w',
    command: '/bin/sh',
    args: ['-c', '"$@"; exit $?', 'sh', direct.command, ...direct.args],
    env: { A: 'b' },
    cwd: '/',
  })
})
