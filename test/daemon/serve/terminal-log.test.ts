import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalLog } from '../../../src/daemon/serve/terminal-log.ts'

test('terminalLog() writes readable lines, and text from servers and files cannot move the cursor', () => {
  const lines: string[] = []
  const log = terminalLog({ write: (text) => lines.push(text) }, () => 0)
  log('debug', 'not for people')
  log('info', 'event published', { source: 'rss', depth: 0, why: 'two words' })
  log('warn', 'a\u001b[2Jb', { reason: 'c\u001b]0;owned\u0007d', more: 'e\u009b31m f' })
  const time = new Date(0).toTimeString().slice(0, 8)
  assert.deepEqual(lines, [
    `${time} info  event published source=rss depth=0 why="two words"\n`,
    `${time} warn  ab reason=cd more="e f"\n`,
  ])
})
