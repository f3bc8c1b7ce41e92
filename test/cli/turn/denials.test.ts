import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DenialRecord, formatDenials, permissionNeededError } from '../../../src/cli/turn/denials.ts'

const CALL: DenialRecord = {
  tool: 'bash',
  server: null,
  action: 'bash: npm test',
  reason: 'no rule allows it',
  rules: ['bash(npm test)'],
  by: 'nobody',
}

test('formatDenials() prints the call, the reason, and the rule that would allow it', () => {
  assert.equal(
    formatDenials([CALL]),
    "crabtalk: denied bash: npm test (no rule allows it); allow it with --allow 'bash(npm test)'\n",
  )
  assert.equal(formatDenials([]), '')
})

test('formatDenials() quotes for a shell, and prints every rule that is needed', () => {
  const rules = [`bash(echo "it's")`, 'edit']
  assert.match(
    formatDenials([{ ...CALL, rules }]),
    /allow it with --allow 'bash\(echo "it'\\''s"\)' --allow edit\n$/,
  )
})

test('formatDenials() prints duplicates once, and counts what it leaves out', () => {
  assert.equal(formatDenials([CALL, CALL]), formatDenials([CALL]))
  const many = Array.from({ length: 8 }, (_, at) => ({ ...CALL, action: `bash: echo ${at}` }))
  const lines = formatDenials(many).split('\n')
  assert.deepEqual(
    [lines.length, lines[4]?.includes('echo 4'), lines[5]],
    [7, true, 'crabtalk: denied 3 more'],
  )
})

test('formatDenials() keeps each call on one line, whatever its text', () => {
  const evil = 'a\u001b[2J\nb\u202e'
  const text = formatDenials([{ ...CALL, action: evil, reason: evil, rules: [evil] }])
  const seen = String.raw`a\x1b[2J\nb\u202e`
  assert.equal(text, `crabtalk: denied ${seen} (${seen})\n`)
  const long = 'x'.repeat(5_000)
  assert.ok(formatDenials([{ ...CALL, action: long, reason: long, rules: [long] }]).length < 500)
})

test('a call of another class is allowed by its own table of rules, never by an option', () => {
  assert.match(
    formatDenials([CALL], 'cron'),
    /; allow it under \[permissions\.unattended\]: allow = \["[^"]+"\]\n$/,
  )
  assert.match(formatDenials([CALL], 'tg:1'), /; allow it under \[permissions\.remote\]: /)
  assert.equal(
    permissionNeededError([CALL], 'event:x').hint,
    'write rules for it under [permissions.unattended]',
  )
  assert.equal(
    permissionNeededError([{ ...CALL, rules: [] }], 'tg:1').hint,
    'no rule under [permissions.remote] allows it',
  )
})

test('permissionNeededError() counts the calls', () => {
  assert.equal(permissionNeededError([CALL]).message, '1 tool call was denied')
  assert.equal(permissionNeededError([CALL, CALL]).message, '2 tool calls were denied')
  assert.equal(permissionNeededError([CALL]).kind, 'denied')
})

test('permissionNeededError() mentions rules only where one would help', () => {
  const noRule = { ...CALL, rules: [] }
  assert.equal(permissionNeededError([noRule, noRule]).hint, 'run it on a terminal')
  assert.match(permissionNeededError([noRule, CALL]).hint ?? '', /--allow/)
  assert.doesNotMatch(formatDenials([noRule]), /--allow/)
})
