import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followTerminal } from './chat-session.ts'
import { openTerminal } from './terminal.ts'

const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8' }

test('followTerminal() shows the output of a program, and types to it', async () => {
  await using session = followTerminal(openTerminal('/bin/sh', ['-c', STAND_IN], { env, cwd: '/' }))
  await session.shows(/^ready$/)
  session.type('hello')
  session.press('enter')
  await session.shows('you said hello')
  assert.ok(session.bytes().includes('\u001b[1myou said hello'))
  session.press('ctrl+d')
  assert.deepEqual(await session.finished, { code: 3, signal: 0 })
  assert.deepEqual(session.screen.text(), ['ready', 'hello', 'you said hello', 'size 24 80'])
})

test('followTerminal() resizes both ends, and answers the queries of a program', async () => {
  const script = `stty raw -echo; printf 'a\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; stty sane; printf 'asked\\n'; read line; stty size; read line`
  await using session = followTerminal(openTerminal('/bin/sh', ['-c', script], { env, cwd: '/' }))
  await session.shows('asked')
  assert.match(session.screen.text()[0] ?? '', /033\s+\[\s+1\s+;\s+2\s+R/)
  await session.resize(40, 10)
  session.press('enter')
  await session.shows('10 40')
  session.press('enter')
  assert.equal((await session.finished).code, 0)
})

test('Session.shows() fails with the current screen when the program ends', async () => {
  await using session = followTerminal(openTerminal('/bin/sh', ['-c', 'echo other'], { env, cwd: '/' }))
  await assert.rejects(session.shows('expected'), /ended before the screen shows expected; it shows:\nother/)
})

const STAND_IN = `echo ready; while read line; do printf '\\033[1myou said %s\\033[m\\n' "$line"; done; echo size $(stty size); exit 3`
