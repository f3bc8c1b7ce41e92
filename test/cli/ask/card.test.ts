import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissionCard } from '../../../src/cli/ask/card.ts'
import { PermissionRequest } from '../../../src/core/protocol/crabtalk.generated.ts'

const PLAIN = { columns: 80, color: false }

test('permissionCard() shows a command, its directory and the reason, and marks the parts that need permission', () => {
  const commands = [
    { text: `echo ${'a'.repeat(200)}`, asks: false, reason: '' },
    { text: 'touch HIDDEN', asks: true, reason: 'no rule allows touch HIDDEN' },
  ]
  const text = card({ tool: 'bash', action: `bash: echo ${'a'.repeat(200)}; touch HIDDEN`, commands })
  assert.match(
    text,
    /^ {2}ok {4}echo a+…\n {2}asks {2}touch HIDDEN\n {8}└ because: no rule allows touch HIDDEN\n {2}in/m,
  )
  assert.equal(
    card({ tool: 'bash', action: 'bash: npm test', rules: ['bash(npm test)', 'bash(ls)'] }),
    ['crabtalk: crab wants to run', '  │ npm test', '  in    /work', '  why   no rule allows it', ''].join(
      '\n',
    ),
  )
})

test('permissionCard() shows what a broad rule would permit, wrapped between words, without control characters', () => {
  const warning =
    'bash(node *) would permit any command without asking; name the script, as in bash(node a *)'
  const lines = card({ tool: 'bash', action: 'bash: node a', warnings: [warning, 'x\u001b[2J'] }).split('\n')
  assert.deepEqual(lines.slice(-5), [
    '  why   no rule allows it',
    '  risk  bash(node *) would permit any command without asking; name the script,',
    '        as in bash(node a *)',
    '  risk  x\\x1b[2J',
    '',
  ])
})

test('permissionCard() shows an edit with its diff', () => {
  const diff = '--- src/a.ts\n+++ src/a.ts\n@@ -1 +1 @@\n-\told\n+\tnew\n same\n'
  const request = { tool: 'write', action: 'edit src/a.ts', diff }
  const lines = card(request).split('\n')
  assert.deepEqual(lines.slice(0, 9), [
    'crabtalk: crab wants to edit',
    '  │ src/a.ts',
    '  │ --- src/a.ts',
    '  │ +++ src/a.ts',
    '  │ @@ -1 +1 @@',
    '  │ -    old',
    '  │ +    new',
    '  │  same',
    '  in    /work',
  ])
  const colored = card(request, { color: true })
  const painted = [
    '\u001b[2m+++ src/a.ts\u001b[22m',
    '\u001b[36m@@ -1 +1 @@\u001b[39m',
    '\u001b[31m-    old\u001b[39m',
    '\u001b[32m+    new\u001b[39m',
  ].map((line) => `  │ ${line}\n`)
  assert.ok(colored.includes(painted.join('')))
})

test('permissionCard() shows the arguments of an MCP tool, one per line', () => {
  const args = JSON.stringify({ path: '/tmp/x', content: 'one\ntwo', force: true, n: 1 })
  const lines = card({
    tool: 'mcp__fs__write',
    server: 'fs',
    action: 'mcp__fs__write {…',
    arguments: args,
  }).split('\n')
  assert.deepEqual(lines.slice(0, 8), [
    'crabtalk: crab wants to use mcp__fs__write of the MCP server fs',
    '  │ path: "/tmp/x"',
    '  │ content:',
    '  │     one',
    '  │     two',
    '  │ force: true',
    '  │ n: 1',
    '  in    /work',
  ])
})

test('permissionCard() shows the arguments of any other tool, and those that are not JSON', () => {
  assert.match(
    card({ tool: 'grep', action: 'read /etc', arguments: '{"path":"/etc"}' }),
    /to use grep\n {2}│ path: "\/etc"\n/,
  )
  assert.match(card({ tool: 'look', action: 'look', arguments: 'nonsense' }), /to use look\n {2}│ nonsense\n/)
})

test('permissionCard() wraps the reason between words, and truncates a long one unless all is requested', () => {
  const reason = `${'some words of it '.repeat(20)}${'x'.repeat(100)} end`
  const request = { tool: 'bash', action: 'bash: ls', reason }
  const rows = card(request)
    .split('\n')
    .slice(2)
    .filter((row) => !row.startsWith('  in'))
  assert.deepEqual(rows, [
    '  why   some words of it some words of it some words of it some words of it',
    '        some words of it some words of it some words of it some words of it',
    '        some words of it some words of it some words of it some words of it…',
    '',
  ])
  const all = card(request, {}, true)
  assert.equal(all.slice(all.indexOf('some')).replaceAll(/\s/g, ''), reason.replaceAll(' ', ''))
  assert.ok(all.split('\n').every((row) => row.length <= PLAIN.columns))
})

/** Commands that disguise themselves. */
const HOSTILE: Record<string, string> = {
  'an escape that clears the line': 'rm -rf ~ \u001b[2K\u001b[1Gls',
  'a carriage return': 'rm -rf ~\rls      ',
  'an override': 'echo \u202e~ fr- mr',
  'blanks up to the end of the row': `true${' '.repeat(76)}  why   it is harmless`,
  'lines that look like ours': 'true\n  why   it is harmless\ny once',
  'a backspace': 'rm -rf ~\b\b\b\b\b\b\b\bls',
  'a title': '\u001b]0;harmless\u0007rm',
  'a line separator': 'true\u2028  why   it is harmless',
}

for (const [what, command] of Object.entries(HOSTILE)) {
  test(`permissionCard() cannot be deceived with ${what}`, () => {
    const lines = card({ tool: 'bash', action: `bash: ${command}` }).split('\n')
    const shown = lines.filter((line) => line.startsWith('  │ '))
    assert.deepEqual(
      lines.filter((line) => !shown.includes(line)),
      ['crabtalk: crab wants to run', '  in    /work', '  why   no rule allows it', ''],
    )
    assert.doesNotMatch(lines.join(''), /[^\P{C}]/u)
    for (const word of command.match(/\w{2,}/g) ?? []) assert.ok(shown.join('').includes(word))
    assert.ok(shown.every((line) => line.length <= PLAIN.columns))
  })
}

test('permissionCard() escapes deceiving characters outside the command as well', () => {
  const evil = 'x\u001b[2J\n  why   it is harmless'
  const text = card({
    tool: evil,
    server: evil,
    arguments: JSON.stringify({ [evil]: evil }),
    cwd: evil,
    reason: evil,
    rules: [evil],
    diff: evil,
  })
  assert.doesNotMatch(text.replaceAll('\n', ''), /[^\P{C}]/u)
  const lines = text.split('\n').filter((line) => !line.startsWith('  │ '))
  assert.deepEqual(
    lines.map((line) => line.slice(0, 8)),
    ['crabtalk', '  in    ', '  why   ', ''],
  )
})

test('permissionCard() says what it leaves out, and shows it on request', () => {
  const command = Array.from({ length: 100 }, (_, at) => `echo ${at}`).join('\n')
  const request = { tool: 'bash', action: `bash: ${command}`, diff: '+\n'.repeat(62) }
  const text = card(request)
  assert.match(text, /│ echo 39\n {2}… 60 more lines; \? shows all\n/)
  assert.match(text, /│ \+\n {2}… 2 more lines; \? shows all\n {2}in/)
  const whole = card(request, {}, true)
  assert.match(whole, /│ echo 99\n/)
  assert.doesNotMatch(whole, /more lines/)
})

test('permissionCard() counts a long line by its rows, with wide characters as two columns', () => {
  const text = card({ tool: 'bash', action: `bash: echo ${'x'.repeat(76 * 60)}` })
  assert.match(text, /… 21 more lines; \? shows all/)
  const wide = card({ tool: 'bash', action: `bash: ${'日'.repeat(39)}` }).split('\n')
  assert.deepEqual(wide.slice(1, 3), [`  │ ${'日'.repeat(38)}`, '  │ 日'])
})

function card(request: Partial<PermissionRequest>, style: { color?: boolean } = {}, whole = false): string {
  const usual = { cwd: '/work', reason: 'no rule allows it' }
  const full = PermissionRequest.fromPartial({ ...usual, ...request })
  return permissionCard(full, { agent: 'crab', style: { ...PLAIN, ...style }, whole })
}
