import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeniedBy } from '../../../../src/core/protocol/crabtalk.generated.ts'
import type { ToolRun } from '../../../../src/tui/view/blocks.ts'
import { renderLookUps } from '../../../../src/tui/view/tool/look-ups.ts'
import { renderTool } from '../../../../src/tui/view/tool/render.ts'
import type { RenderContext } from '../../../../src/tui/view/view.ts'
import { makeTool } from '../blocks.ts'
import { makeView, plain } from '../support.ts'

const renderLines = (tool: Partial<ToolRun>, view: Partial<RenderContext> = {}) =>
  renderTool(makeTool(tool), makeView({ columns: 60, ...view }))
const renderLine = (name: string, args: object, tool: Partial<ToolRun> = {}) =>
  renderLines({ name, arguments: JSON.stringify(args), ...tool })[0]
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`)

test('renderTool() describes in words what a built-in tool did, and with what', () => {
  assert.equal(
    renderLine('bash', { command: 'npm test' }, { output: 'a\nb', durationMs: 1234 }),
    '✓ Run npm test  1.2 s',
  )
  assert.equal(
    renderLine('bash', { command: 'cd x\nls\npwd' }, { output: '[no output]' }),
    '✓ Run cd x … +2  no output',
  )
  assert.equal(renderLine('read', { path: 'a.ts' }, { output: 'one' }), '✓ Read a.ts  1 line')
  assert.equal(
    renderLine('read', { path: 'a.ts', offset: 5, limit: 3 }, { output: 'x\ny' }),
    '✓ Read a.ts:5-7  2 lines',
  )
  assert.equal(
    renderLine('grep', { pattern: 'a.*b', path: 'src' }, { output: 'No matches.' }),
    '✓ Search "a.*b" in src  no matches',
  )
  assert.equal(
    renderLine('glob', { pattern: '**/*.ts', path: '.' }, { output: 'a\nb\nc' }),
    '✓ Find **/*.ts  3 files',
  )
  assert.equal(
    renderLine('glob', { pattern: '*.md' }, { output: 'No files found.' }),
    '✓ Find *.md  no files found',
  )
  assert.equal(renderLine('ask_user', { questions: [{ question: 'Which?' }] }), '✓ Ask Which?')
  const items = ['[x] Read the code', '[>] Fix the \x1b[31mparser', '[ ] Run the tests']
  assert.deepEqual(
    renderLines({ name: 'todo', arguments: JSON.stringify({ items }), output: '1 of 3 done' }),
    ['✓ Todo Fix the parser  1 of 3 done', '  ✓ Read the code', '  ▸ Fix the parser', '  ○ Run the tests'],
  )
  assert.equal(renderLine('remember', { name: 'wifi', content: 'lagoon' }), '✓ Remember wifi')
  assert.equal(renderLine('forget', { name: 'wifi' }), '✓ Forget wifi')
  assert.equal(renderLine('recall', { query: 'wifi' }), '✓ Recall wifi')
  assert.equal(renderLine('search_sessions', { query: 'wifi' }), '✓ Search conversations wifi')
  assert.equal(renderLine('skill', { name: 'review' }), '✓ Read skill review')
})

test('renderTool() names the server of an MCP tool once, and shortens its arguments', () => {
  const args = { path: '/tmp', depth: 3, all: [true] }
  assert.equal(
    renderLine('mcp__my_fs__list', args, { server: 'my fs', durationMs: 300 }),
    '✓ my fs · list path: /tmp, depth: 3, all: [true]  300 ms',
  )
})

test('renderTool() shows invalid arguments and unknown tools as well as it can', () => {
  assert.equal(renderLines({ arguments: '{"comm' })[0], '✓ Run')
  assert.equal(renderLine('toString', { a: 1 }), '✓ toString a: 1')
})

test('renderTool() fits the width and omits the result where there is no room', () => {
  const tool = { arguments: JSON.stringify({ command: 'x'.repeat(100) }), output: 'a', durationMs: 250 }
  assert.equal(renderLines(tool, { columns: 40 })[0], `✓ Run ${'x'.repeat(25)}…  250 ms`)
  assert.equal(renderLines(tool, { columns: 12 })[0], '✓ Run xxxxx…')
})

test("renderTool() shows the end of a failed command's output, and how it ended", () => {
  const output = `${numbered(9).join('\n')}\n[exit code 2]`
  const lines = renderLines({ arguments: '{"command":"make"}', state: 'failed', output })
  assert.deepEqual(lines, [
    '✗ Run make  exit 2',
    '  … 5 lines (Ctrl+O)',
    '  line 6',
    '  line 7',
    '  line 8',
    '  line 9',
  ])
  assert.match(renderLines({ state: 'failed', output: '[killed by SIGKILL]' })[0]!, /SIGKILL$/)
})

test('renderTool() shows the last lines of a command, and how many there are before them', () => {
  const tool = { arguments: '{"command":"make"}', output: numbered(38).join('\n') }
  assert.deepEqual(renderLines(tool), [
    '✓ Run make',
    '  … 35 lines (Ctrl+O)',
    '  line 36',
    '  line 37',
    '  line 38',
  ])
  assert.deepEqual(renderLines({ ...tool, output: 'a\nb\nc\nd' }).length, 5)
  const long = renderLines({ ...tool, output: numbered(20_000).join('\n') })
  assert.equal(
    renderLines({ ...tool, output: numbered(20).join('\n') }, { isPlain: true })[1],
    '  … 17 lines',
  )
  assert.deepEqual([long[1], long.at(-1)], ['  … 19997 lines (Ctrl+O)', '  line 20000'])
})

test('renderTool() shows the first error of a failed command, whatever program reports it', () => {
  const around = (lines: readonly string[]) => [...numbered(20), ...lines, ...numbered(20)].join('\n')
  const cases: [string[], string][] = [
    [['✖ add() refuses NaN (1 ms)', '  AssertionError: Missing'], '✖ add() refuses NaN (1 ms)'],
    [["src/a.ts(3,1): error TS2322: Type 'x'"], "src/a.ts(3,1): error TS2322: Type 'x'"],
    [['error[E0308]: mismatched types', ' --> src/main.rs:2'], 'error[E0308]: mismatched types'],
    [["thread 'main' panicked at src/main.rs:3:5:", 'boom'], "thread 'main' panicked at src/main.rs:3:5:"],
    [['FAIL src/a.test.ts', '  ● adds'], 'FAIL src/a.test.ts'],
    [['fatal: not a git repository'], 'fatal: not a git repository'],
    [['Traceback (most recent call last):', '  File "a.py", line 1', 'ValueError: x'], 'ValueError: x'],
    [['bash: frob: command not found'], 'bash: frob: command not found'],
  ]
  for (const [lines, first] of cases) {
    const output = `${around(lines)}\n[exit code 1]`
    const shown = renderLines({ arguments: '{"command":"x"}', state: 'failed', output })
    assert.deepEqual([shown[0], shown[1]], ['✗ Run x  exit 1', `  ${first}`])
    assert.match(shown.at(-1)!, /^ {2}… \d+ lines \(Ctrl\+O\)$/)
  }
})

for (const [runner, output, expected] of [
  [
    'node --test',
    '✔ a\n✔ b\nℹ tests 9\nℹ suites 0\nℹ pass 9\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 81.5\n',
    ['  … 7 lines (Ctrl+O)', '  ℹ tests 9', '  ℹ pass 9', '  ℹ fail 0'],
  ],
  [
    'pytest',
    'rootdir: /w\ncollected 3 items\n\ntest_a.py ...   [100%]\n\n===== 3 passed in 0.03s =====\n',
    ['  … 5 lines (Ctrl+O)', '  ===== 3 passed in 0.03s ====='],
  ],
  [
    'cargo test',
    'running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; finished in 0.00s\n\n',
    ['  … 4 lines (Ctrl+O)', '  test result: ok. 2 passed; 0 failed; finished in 0.00s'],
  ],
  ['make', 'cc a.c\n\ncc b.c\n\nld\n\ndone\n\n', ['  … 4 lines (Ctrl+O)', '  cc b.c', '  ld', '  done']],
] as const) {
  test(`renderTool() shows the summary of ${runner} without blank lines`, () => {
    const tool = makeTool({ name: 'bash', arguments: '{"command":"x"}', output })
    assert.deepEqual(renderLines(tool).slice(1), expected)
  })
}

test('renderTool() leaves out the tests that passed after the first error', () => {
  const passed = Array.from({ length: 9 }, (_, at) => `✔ test ${at}`)
  const output = [...passed, '✖ add() refuses NaN', '  AssertionError: Missing', ...passed].join('\n')
  assert.deepEqual(renderLines({ arguments: '{"command":"x"}', state: 'failed', output }), [
    '✗ Run x  failed',
    '  ✖ add() refuses NaN',
    '    AssertionError: Missing',
    '  … 18 lines (Ctrl+O)',
  ])
})

test('renderTool() counts what a search has found', () => {
  const found = 'src/a.ts\n3:isFinite(a)\n9:isFinite(b)\n\nsrc/b.ts\n1:isFinite'
  assert.equal(
    renderLine('grep', { pattern: 'isFinite' }, { output: found }),
    '✓ Search "isFinite"  3 matches in 2 files',
  )
  const more = `${found}\n\n[40 more lines match, in 3 files]`
  assert.equal(
    renderLine('grep', { pattern: 'isFinite' }, { output: more }),
    '✓ Search "isFinite"  43 matches',
  )
  assert.equal(renderLine('glob', { pattern: '*' }, { output: 'a\n[200 more]' }), '✓ Find *  201 files')
})

test("renderTool() shows the start of a server's result", () => {
  const tool = { name: 'mcp__fs__list', server: 'fs', output: numbered(9).join('\n') }
  assert.deepEqual(renderLines(tool), [
    '✓ fs · list',
    '  line 1',
    '  line 2',
    '  line 3',
    '  … 6 lines (Ctrl+O)',
  ])
})

test('renderLookUps() shows a line for each kind of call', () => {
  const call = (name: string, args: object, output = 'x') =>
    makeTool({ name, arguments: JSON.stringify(args), output })
  const calls = [
    call('read', { path: 'src/util.ts' }),
    call('grep', { pattern: 'isFinite' }, 'a.ts\n1:isFinite'),
    call('read', { path: 'src/x.ts' }),
    call('read', { path: 'src/x.ts', offset: 200 }),
    call('glob', { pattern: '*.ts' }),
    call('glob', { pattern: '*.ts' }),
  ]
  assert.deepEqual(renderLookUps(calls, makeView({ columns: 60 })), [
    '✓ Read 2 files  src/util.ts, src/x.ts',
    '✓ Search "isFinite"  1 match in 1 file',
    '✓ Find *.ts  2 times',
  ])
})

test("renderTool() shows the start of another failed tool's output", () => {
  const lines = renderLines({
    name: 'read',
    arguments: '{"path":"a"}',
    state: 'failed',
    output: 'Cannot read a: no\n\nhint',
  })
  assert.deepEqual(lines, ['✗ Read a  failed', '  Cannot read a: no', '', '  hint'])
})

test('renderTool() says who denied a call, and which rules would allow it', () => {
  const denial = {
    action: 'rm',
    reason: 'the rule bash(rm *) denies it',
    rules: ['bash(rm *)', 'write'],
    by: DeniedBy.RULE,
  }
  assert.deepEqual(renderLines({ arguments: '{"command":"rm x"}', state: 'denied', denial }), [
    '⊘ Run rm x  not permitted',
    '  the rule bash(rm *) denies it',
    '  the rules bash(rm *), write would allow it',
  ])
})

test('renderTool() shows the reason that the user gave for a no, and says no once', () => {
  const linesFor = (reason: string) => {
    const denial = { action: 'rm', reason, rules: ['bash(rm *)'], by: DeniedBy.PERSON }
    return renderLines({ arguments: '{"command":"rm x"}', state: 'denied', denial })
  }
  assert.deepEqual(linesFor('the user said no'), ['⊘ Run rm x  you said no'])
  assert.deepEqual(linesFor('the user said no: use git clean'), [
    '⊘ Run rm x  you said no',
    '  use git clean',
  ])
})

test('renderTool() never suggests a rule that allows every command', () => {
  const denial = { action: 'x', reason: 'no rule allows it', rules: ['bash'], by: DeniedBy.NOBODY }
  assert.deepEqual(renderLines({ arguments: '{"command":"x"}', state: 'denied', denial }), [
    '⊘ Run x  not permitted',
    '  no rule allows it',
  ])
})

test('renderTool() shows a call that never ran without a duration', () => {
  const output = 'Not run: the turn was cancelled first.'
  const call = { arguments: '{"command":"touch x"}', state: 'skipped', output, durationMs: 11_200 } as const
  assert.deepEqual(renderLines(call), ['⊘ Run touch x  not run', '  interrupted'])
})

test('renderTool() shows the diff that a permission card has shown', () => {
  const diff =
    '--- a\n+++ a\n@@ -9,3 +9,3 @@ f()\n one\n-two\n+2\n three\n@@ -50 +50,0 @@\n-x\n\\ No newline at end of file\n'
  const lines = renderLines({ name: 'edit', arguments: '{"path":"a"}', diff })
  assert.deepEqual(lines, [
    '✓ Edit a  +1 −2',
    '   9   one',
    '  10 - two',
    '  10 + 2',
    '  11   three',
    '  ⋮',
    '  50 - x',
  ])
})

test('renderTool() makes the diff of an edit from its arguments, with line numbers from its result', () => {
  const edits = [
    { old: 'a\nb\nc', new: 'a\nB\nc' },
    { old: 'gone', new: '' },
  ]
  const output = 'Edited f\n[lines 3-6 of 10]\nq\na\nB\nc'
  const lines = renderLines({ name: 'edit', arguments: JSON.stringify({ path: 'f', edits }), output })
  assert.deepEqual(lines, [
    '✓ Edit f  +1 −2',
    '  4   a',
    '  5 - b',
    '  5 + B',
    '  6   c',
    '  ⋮',
    '    - gone',
  ])
})

test('renderTool() makes the diff of an edit whose old and new text are arguments of the call itself', () => {
  const output = 'Edited f\n[lines 3-5 of 10]\na\nB\nc'
  const names = [
    ['old', 'new'],
    ['old_string', 'new_string'],
  ] as const
  for (const [before, after] of names) {
    const args = JSON.stringify({ path: 'f', [before]: 'a\nb', [after]: 'a\nB' })
    const lines = renderLines({ name: 'edit', arguments: args, output })
    assert.deepEqual(lines, ['✓ Edit f  +1 −1', '  3   a', '  4 - b', '  4 + B'])
  }
  assert.deepEqual(renderLines({ name: 'edit', arguments: '{"path":"f","old":1}', output }), ['✓ Edit f'])
})

test('renderTool() folds the contents of a new file, unless details are on', () => {
  const tool = {
    name: 'write',
    arguments: JSON.stringify({ path: 'f', content: `${numbered(30).join('\n')}\n` }),
    output: 'Created f: 30 lines, 200 bytes',
  }
  const lines = renderLines(tool)
  assert.equal(lines.length, 1 + 20 + 1)
  assert.deepEqual([lines[1], lines.at(-1)], ['   1 + line 1', '  … 10 more lines (Ctrl+O)'])
  assert.ok(renderLines(tool, { details: true }).includes('  30 + line 30'))
  assert.deepEqual(renderLines({ ...tool, output: 'Replaced f: 30 lines, 200 bytes' }), ['✓ Write f'])
})

test('renderTool() shows arguments and output in detail, a hundred lines of each', () => {
  const tool = { name: 'grep', arguments: '{"pattern":"x"}', output: numbered(150).join('\n') }
  const lines = plain(renderLines(tool, { details: true, color: true }))
  assert.deepEqual(lines.slice(0, 6), [
    '✓ Search "x"  150 files',
    '  arguments',
    '  {',
    '    "pattern": "x"',
    '  }',
    '  output',
  ])
  assert.deepEqual(lines.slice(-2), ['  line 100', '  … 50 more lines'])
  assert.equal(renderLines(tool, { details: true, isWhole: true }).at(-1), '  line 150')
  const write = { name: 'write', arguments: JSON.stringify({ path: 'f', content: numbered(300).join('\n') }) }
  const made = { ...write, output: 'Created f: 300 lines, 3000 bytes' }
  assert.ok(renderLines(made, { details: true }).includes('  … 100 more lines (Ctrl+O)'))
  assert.ok(renderLines(made, { details: true, isWhole: true }).includes('  300 + line 300'))
})
