import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envFileProblems, parseVariables } from '../../../src/core/config/env-file-text.ts'

/** A file, with the line and the text of each problem. */
const WRONG: [text: string, line: number, message: RegExp][] = [
  ['# keys\nsk-ant-123', 2, /is not KEY=VALUE/],
  ['A B=1', 1, /is not KEY=VALUE/],
  ['A: 1', 1, /is not KEY=VALUE/],
  ['1A=1', 1, /is not KEY=VALUE/],
  ['=1', 1, /is not KEY=VALUE/],
  ["export A='1'", 1, /starts with export/],
  ["A=1\nB='x\nC=2", 2, /unclosed quote/],
  ['A=pass#word', 1, /read differently/],
  ['A=1 # one', 1, /read differently/],
  ["A='1' # one", 1, /read differently/],
  ["A='a'b", 1, /read differently/],
  ['A=C:\\keys', 1, /read differently/],
  ['A= \nB=1', 1, /read differently/],
  ['A=`x`', 1, /read differently/],
  ['A="x\\ny"', 1, /read differently/],
  ['A="a\nb"\nrubbish', 3, /is not KEY=VALUE/],
]

for (const [text, line, message] of WRONG) {
  test(`envFileProblems() reports line ${line} of ${JSON.stringify(text)}, without its contents`, () => {
    const problems = envFileProblems(text, 'service.env')
    assert.deepEqual(
      problems.map((problem) => [problem.file, problem.line]),
      [['service.env', line]],
    )
    assert.match(problems[0]!.message, message)
    assert.doesNotMatch(JSON.stringify(problems), /sk-ant|pass|keys|rubbish/)
  })
}

test('envFileProblems() accepts lines that all programs read alike', () => {
  const text =
    "\ufeff# a comment\n; another\r\n\n  A = 1\nB='x # \\ y'\nC=\"a b\"\nD=\nE='two\nlines'\nF=a=b'c\"d$e\n"
  assert.deepEqual(envFileProblems(text, 'service.env'), [])
})

test('parseVariables() ignores a byte order mark', () => {
  assert.deepEqual(parseVariables("\ufeffA='1'\r\nB=2\r\n"), { A: '1', B: '2' })
})

test('parseVariables() skips variables on lines that envFileProblems() reports as unreadable', () => {
  assert.deepEqual(parseVariables("A B=1\nBAD-NAME=2\n1A=3\nexport C=4\nD='5'\n"), { C: '4', D: '5' })
})
