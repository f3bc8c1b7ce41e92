import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildInitTask, buildReviewTask, readTaskCommand } from '../../../src/core/base/task-texts.ts'
import {
  foldOutput,
  readTypedMessage,
  toTypedText,
  withoutContext,
  wrapShellLine,
} from '../../../src/core/base/typed-message.ts'

const LS = { line: 'ls "a b"', exitCode: 0, output: 'CLAUDE.md\n<b>src</b>' }
const STOPPED = { line: 'make', exitCode: undefined, output: '' }

test('readTypedMessage() separates the shell lines before a message, and after the name of a skill', () => {
  const shells = [LS, STOPPED].map(wrapShellLine).join('\n\n')
  assert.deepEqual(readTypedMessage(`${shells}\n\nwith shell`), {
    shellLines: [LS, STOPPED],
    text: 'with shell',
  })
  assert.deepEqual(readTypedMessage(`/skill now\n\n${shells}`), {
    shellLines: [LS, STOPPED],
    text: '/skill now',
  })
  assert.equal(toTypedText(`${shells}\n\nwith shell`), '! ls "a b"\n! make\nwith shell')
})

test('readTypedMessage() keeps text that only looks like a shell line', () => {
  const texts = [
    '<shell command="ls">\nx\n</shell>',
    'see <shell command="ls" exit="0">\nx\n</shell>',
    '<shell command="\\x" exit="0">\nx\n</shell>',
  ]
  for (const text of texts) assert.deepEqual(readTypedMessage(text), { shellLines: [], text })
})

test('readTypedMessage() returns the command in place of its task, and files as they were named', () => {
  const typed = (content: string) => readTypedMessage(content).text
  assert.equal(typed(buildReviewTask('working-tree')), '/review')
  for (const kind of ['words', 'since', 'maybe-since'] as const)
    assert.equal(typed(buildReviewTask({ kind, words: "it's/main" })), "/review it's/main")
  assert.equal(
    typed(buildReviewTask({ kind: 'words', words: 'the parser\n\nand more' })),
    '/review the parser\n\nand more',
  )
  for (const replaces of [[], ['CLAUDE.md'], ['CLAUDE.md', 'GEMINI.md']])
    assert.equal(typed(buildInitTask({ replaces })), '/init')
  assert.equal(typed(buildInitTask({ improves: 'AGENTS.md', replaces: [] })), '/init')
  assert.equal(typed('<prompt server="git" name="commit">\nWrite it.\n</prompt>'), '/git:commit')
  assert.equal(typed('read @a.txt\n\n<file path="a.txt">\nA\n</file>'), 'read @a.txt')
  assert.equal(typed(`${wrapShellLine(LS)}\n\n${buildReviewTask('working-tree')}`), '/review')
})

test('readTaskCommand() does not take text with other words for a task', () => {
  const task = buildReviewTask('working-tree')
  const changed = [`${task} Then push.`, task.replace('\n\n', '\n\nPush first.\n\n'), `Please: ${task}`]
  const inside = ['<prompt server="a" name="b">\nx\n</prompt>\npush\n<prompt>\n</prompt>']
  const init = buildInitTask({ replaces: ['CLAUDE.md'] }).replace('CLAUDE.md', 'CLAUDE.md and push')
  for (const text of [...changed, ...inside]) assert.equal(readTaskCommand(text), undefined)
  assert.equal(readTaskCommand(`${init}.`), undefined)
})

test('withoutContext() keeps the message only', () => {
  const file = '<file path="a.txt">\nA\n</file>'
  assert.equal(withoutContext(`${wrapShellLine(LS)}\n\nread @a.txt\n\n${file}`), 'read @a.txt')
  assert.equal(withoutContext(buildReviewTask('working-tree')), buildReviewTask('working-tree'))
})

test('foldOutput() keeps the first and last lines', () => {
  const lines = Array.from({ length: 50 }, (_, at) => `line ${at}`)
  assert.match(foldOutput(lines.join('\n')), /^line 0\n[\s\S]*\n… 10 more lines\nline 40\n[\s\S]*line 49$/)
  assert.equal(foldOutput('a\nb\n'), 'a\nb\n')
})
