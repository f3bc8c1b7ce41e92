import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeMcpName, readRule } from '../../../src/core/config/rule-syntax.ts'

test('readRule() reads every form of rule', () => {
  const form = (text: string) => {
    const reading = readRule(text)
    assert.ok(reading.ok, text)
    return reading.value
  }
  assert.deepEqual(form('*'), { about: 'everything' })
  assert.deepEqual(form('read'), { about: 'read', path: undefined })
  assert.deepEqual(form('edit'), { about: 'edit', path: undefined })
  assert.deepEqual(form('bash'), { about: 'bash', words: undefined })
  assert.deepEqual(form('fetch'), { about: 'tool', name: 'fetch' })
  assert.deepEqual(form(' search_sessions '), { about: 'tool', name: 'search_sessions' })
  assert.deepEqual(form('mcp__fs__*'), { about: 'mcp', name: ['mcp__fs__', ''] })
  assert.deepEqual(form('mcp__*__read_*'), { about: 'mcp', name: ['mcp__', '__read_', ''] })
  assert.deepEqual(form('mcp__fs__a.b/c d[1]+\\*\\(x\\)'), {
    about: 'mcp',
    name: ['mcp__fs__a.b/c d[1]+*(x)'],
  })
  assert.deepEqual(form('mcp__fs*'), { about: 'mcp', name: ['mcp__fs', ''] })
  const words = (text: string) => {
    const bash = form(text)
    assert.ok(bash.about === 'bash')
    return bash.words?.map(({ parts }) => parts)
  }
  assert.deepEqual(words('bash(npm run *)'), [['npm'], ['run'], ['', '']])
  assert.deepEqual(words(`bash( git commit -m '*' )`), [['git'], ['commit'], ['-m'], ['*']])
  assert.deepEqual(words('bash(npm run test:*)'), [['npm'], ['run'], ['test:', '']])
})

test('readRule() reads paths from the workspace, the home directory and the root', () => {
  const paths: [argument: string, start: string, base: string[], glob?: string][] = [
    ['src/**', '', ['src'], '**'],
    ['./src//a.ts', '', ['src', 'a.ts']],
    ['../shared/*', '', ['..', 'shared'], '*'],
    ['.', '', []],
    ['~', '~', []],
    ['~/notes/*.md', '~', ['notes'], '*.md'],
    ['/etc/**', '/', ['etc'], '**'],
    ['//etc', '/', ['etc']],
    ['/', '/', []],
    ['*.ts', '', [], '*.ts'],
    ['app/(group)/a.ts', '', ['app', '(group)', 'a.ts']],
    ['app/\\[id\\]/a', '', ['app', '[id]', 'a']],
    ['./~a', '', ['~a']],
    ['a b/c', '', ['a b', 'c']],
    ['e\u0301/*', '', ['é'], '*'],
    ['a\\ ', '', ['a ']],
  ]
  for (const [argument, start, base, glob] of paths) {
    const reading = readRule(`read(${argument})`)
    assert.ok(reading.ok && reading.value.about === 'read', argument)
    const path = reading.value.path!
    assert.deepEqual([path.start, path.base, path.glob], [start, base, glob], argument)
  }
})

test('readRule() says what is wrong with a rule, and suggests a valid one', () => {
  const rules: [text: string, predicate: string, example: string][] = [
    ['', 'is empty', 'bash(git commit *)'],
    [' ', 'is empty', 'bash(git commit *)'],
    ['bash(a\nb)', 'has a line break or another control character', 'bash(git commit *)'],
    ['read(a\x1b)', 'has a line break or another control character', 'bash(git commit *)'],
    ['read(a\u2028b)', 'has a line break or another control character', 'bash(git commit *)'],
    ['Bash(git *)', 'must be written in lower case', 'bash(npm run lint)'],
    ['Write', 'must be written in lower case', 'edit(src/**)'],
    ['Fetch', 'must be written in lower case', 'fetch'],
    ['write(src/**)', 'never matches: rules for edit apply to write', 'edit(src/**)'],
    ['grep', 'never matches: rules for read apply to grep', 'read(~/notes/**)'],
    ['glob(src)', 'never matches: rules for read apply to glob', 'read(~/notes/**)'],
    ['read()', 'has empty parentheses', 'read or read(~/notes/**)'],
    ['bash( )', 'has empty parentheses', 'bash or bash(npm run lint)'],
    ['read(src', 'has a ( without a ) at its end', 'read(src/**)'],
    ['read(src) x', 'has a ( without a ) at its end', 'read(src/**)'],
    ['read)', 'has a ) without a (', 'read(src/**)'],
    ['(src)', 'has a parenthesis without a tool before it', 'read(src/**)'],
    ['edit(a))', 'has unbalanced parentheses', 'edit(src/**)'],
    ['fetch(https://a.b)', 'takes nothing in parentheses; only read, edit and bash do', 'fetch'],
    ['*(x)', 'has a * in a name that does not start with mcp__', 'mcp__fs__*'],
    ['mcp*', 'has a * in a name that does not start with mcp__', 'mcp__fs__*'],
    ['re*', 'has a * in a name that does not start with mcp__', 'mcp__fs__*'],
    ['git push', 'does not start with the name of a tool', 'bash(git commit *)'],
    ['./x', 'does not start with the name of a tool', 'bash(git commit *)'],
    ['mcp__fs', 'names a server but no tools', 'mcp__fs__*'],
    ['mcp__fs__', 'names a server but no tools', 'mcp__fs__*'],
    ['mcp__', 'names a server but no tools', 'mcp__fs__*'],
    [
      'mcp__fs__read(/etc)',
      'takes nothing in parentheses; write a parenthesis in a name as \\(',
      'mcp__fs__read_file',
    ],
    ['bash(git:*)', 'has a colon before its *', 'bash(git *)'],
    ['bash(npm test:*)', 'has a colon before its *', "bash(npm test *) or bash(npm test':'*)"],
    ['bash( git push a:* )', 'has a colon before its *', "bash(git push a *) or bash(git push a':'*)"],
    ['bash(git-lfs:*)', 'has a colon before its *', 'bash(git-lfs *)'],
    ['bash(a | b)', 'is for one command; each command of a line is judged alone', 'bash(ls *)'],
    ['bash(a && b)', 'is for one command; each command of a line is judged alone', 'bash(ls *)'],
    ['bash(echo $HOME)', 'never matches: it has a parameter expansion', 'bash(git commit *)'],
    ['bash(a > b)', 'never matches: it writes b', 'bash(git commit *)'],
    ['bash(A=b c)', 'never matches: it sets a variable before a command', 'bash(git commit *)'],
    ['bash(eval *)', 'never matches: "eval" changes what the shell does', 'bash(git commit *)'],
    ['bash(a))', 'never matches: it has a parenthesis', 'bash(git commit *)'],
    [`bash(a ')`, 'never matches: it has a quote that is not closed', 'bash(git commit *)'],
    ['read( src)', 'starts or ends with a space', 'read(src/**)'],
    ['read(src )', 'starts or ends with a space', 'read(src/**)'],
    ['read(~root/x)', 'has a ~ that is not followed by /', 'read(~/notes/**)'],
    ['edit($HOME/x)', 'has a variable, which is not expanded', 'edit(~/notes/**)'],
    ['read(*/../x)', 'has a .. after a wildcard', 'read(src/**)'],
    ['read([z-a])', 'is not a valid pattern: Range out of order in character class', 'read(src/**)'],
    ['constructor(x)', 'takes nothing in parentheses; only read, edit and bash do', 'constructor'],
  ]
  for (const [text, predicate, example] of rules) {
    const reading = readRule(text)
    assert.deepEqual(reading, { ok: false, problem: { predicate, example } }, JSON.stringify(text))
    for (const right of example.split(' or ')) assert.ok(readRule(right).ok, right)
  }
})

test('escapeMcpName() writes a name that readRule() reads as just this name', () => {
  const reading = readRule(escapeMcpName('mcp__fs__a*(b)\\c'))
  assert.deepEqual(reading, { ok: true, value: { about: 'mcp', name: ['mcp__fs__a*(b)\\c'] } })
})
