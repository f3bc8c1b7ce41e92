import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { quoteWord } from '../../../src/core/base/quote-word.ts'
import { lexShell } from '../../../src/core/base/shell-lexer.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { plainLines, soups } from '../../support/shell-lines.ts'
import { shellWords, sortedCommands } from '../../support/shell-words.ts'

/** Lines with the words of each command, or why they cannot be split. */
function lex(line: string, isPattern = false): string[][] | string {
  const lexed = lexShell(line, { isPattern })
  return 'opaque' in lexed ? lexed.opaque : lexed.commands.map((words) => words.map(({ text }) => text))
}

/** Spells a commit as models do, with the message in a here-document. */
function documentLine(body: string, rest = '', delimiter = "'EOF'"): string {
  return `git commit -m "$(cat <<${delimiter}\n${body}\nEOF\n)"${rest}`
}

test('lexShell() splits the lines it understands', () => {
  const lines: [line: string, commands: string[]][] = [
    ['ls', ['ls']],
    ['  ls\t-la  ', ['ls|-la']],
    ['a;b', ['a', 'b']],
    ['a && b || c', ['a', 'b', 'c']],
    ['a|b |& c', ['a', 'b', 'c']],
    ['a & b &', ['a', 'b']],
    ['a\nb\n\n', ['a', 'b']],
    ['a &&\nb', ['a', 'b']],
    ['a &&\\\nb', ['a', 'b']],
    ['a \\\n  b', ['a|b']],
    ['a\\\nb', ['ab']],
    ['a # b; c\nd', ['a', 'd']],
    ['a#b #', ['a#b']],
    [`a 'b;c' "d && e" f\\ g`, ['a|b;c|d && e|f g']],
    [`g"it" 'sta'tus`, ['git|status']],
    [`a "" ''`, ['a||']],
    ['a "\\$x \\` \\" \\\\ \\n"', ['a|$x ` " \\ \\n']],
    [`a '$x \`id\` $(id) \\'`, ['a|$x `id` $(id) \\']],
    ['a "b\\\nc"', ['a|bc']],
    ["a 'b\nc'", ['a|b\nc']],
    ['ls *.ts [a-z]? src/**', ['ls|*.ts|[a-z]?|src/**']],
    ['find . -name x -exec rm {} +', ['find|.|-name|x|-exec|rm|{}|+']],
    ['git show stash@{0} HEAD~1 @{u}', ['git|show|stash@{0}|HEAD~1|@{u}']],
    ['find . ! -name a', ['find|.|!|-name|a']],
    ['make a=b c:d', ['make|a=b|c:d']],
    ['[ -f a ] && test -n b', ['[|-f|a|]', 'test|-n|b']],
    ['make 2>&1 | tail', ['make', 'tail']],
    ['make >/dev/null 2>&1', ['make']],
    ['make > /dev/null 2>> /dev/null </dev/null', ['make']],
    ['a 2>&1 b', ['a|b']],
    ['>/dev/null a', ['a']],
    ['a>&2', ['a']],
    ['a2>&1', ['a2']],
    ['command -v git', ['command|-v|git']],
    ['git commit -m "❤️ übergroß 日本"', ['git|commit|-m|❤️ übergroß 日本']],
    ['CI=1 NO_COLOR= TZ=Europe/Zurich LC_ALL=C.UTF-8 npm test', ['npm|test']],
    ['FOO=1 CI=1 npx vitest; DEBUG=a:*,b c', ['env|FOO=1|npx|vitest', 'c']],
    ['FOO="a b" NODE_ENV=../x TZ=/x a', ['env|FOO=a b|NODE_ENV=../x|TZ=/x|a']],
    [documentLine("fix(x): it's `f(g())`\n\n# $HOME\n"), ["git|commit|-m|fix(x): it's `f(g())`\n\n# $HOME"]],
    [documentLine('a (b)', `&& c 'd'`), ['git|commit|-m|a (b)', 'c|d']],
    [documentLine(''), ['git|commit|-m|']],
  ]
  for (const [line, commands] of lines) {
    assert.deepEqual(
      lex(line),
      commands.map((command) => command.split('|')),
      JSON.stringify(line),
    )
  }
})

test('lexShell() says why it cannot split a line', () => {
  const lines: [reason: string, ...lines: string[]][] = [
    ['it has a command substitution', 'a $(id)', 'a "x $(id)"', 'a `id`', 'a "`id`"', '$(id)', 'a x`id`y'],
    ['it has an arithmetic expansion', 'a $((1))', 'a "$((1))"'],
    [
      'it has a parameter expansion',
      'a $HOME',
      `a "\${x}"`,
      '$x',
      'a $?',
      'a "x$"',
      'a $',
      'a $[1]',
      'a "$x',
    ],
    ["it has a $'…' string", "a $'\\x72m'", 'a $"b"'],
    ['it has a parenthesis', '(a)', 'a() { b; }', 'a (b', 'a @(b|c)', '((a))', 'a=(b)', 'a b(c)'],
    ['it has a redirection', 'a <f', 'a <>f', 'a >$f', 'a >"f"', 'a >f*', 'a >&f', 'a >&-', 'a 3>&1'],
    ['it writes src/f.ts', 'a >src/f.ts', 'a>>src/f.ts', 'a 1>src/f.ts', 'a >|src/f.ts', 'a >src/f.ts <b'],
    ['it writes src/f.ts', "cat > src/f.ts <<'E'\nb\nE", "cat <<'E' > src/f.ts\nb\nE", 'cat <<E>src/f.ts\nE'],
    [
      'it has a command substitution',
      documentLine('a', '', 'EOF'),
      documentLine('$(id)', '', 'EOF'),
      documentLine('EOF\nid'),
      documentLine('EOF)'),
      documentLine('a\\'),
      documentLine('a) "; id; "'),
      documentLine('( " '),
      documentLine("it's", " && echo 'a'"),
      documentLine('a').replace('cat', 'cat x'),
      documentLine('a').replace('EOF\n)', 'EOF\nid\n)'),
      documentLine('a').replaceAll('"', ''),
    ],
    [
      'it has a redirection',
      'a <<E\nb\nE',
      'a <<<b',
      'a <(b)',
      'a >(b)',
      'a >/dev/nullx',
      'a 2>&10',
      'a 10>/dev/null',
    ],
    [
      'it has a redirection',
      'a {x}>/dev/null',
      'a "2">/dev/null',
      'a 2\\\n>&1',
      'a >/dev/null<b',
      'a >/dev/tcp/h/1',
    ],
    [
      'it has an operator that shells read differently',
      'a &>f',
      'a &>/dev/null',
      'a &>>/dev/null',
      'a &\\\n& b',
    ],
    ['it has a brace expansion', 'a {b,c}', 'a {1..3}', 'a b{c,d}e', 'a {b,"c"}', 'a {"b",c}'],
    ['it has a ~ that the shell expands', 'a ~', 'a ~/b', 'a ~root', '~/a', 'a b=~/c', 'a b:~'],
    ['it sets a variable before a command', 'A+=b c', 'A[0]=b', '"A=b" c', 'a && "B"=c d'],
    ['it sets A for later commands', 'A=b', 'A=b; c', 'c | A=b'],
    ['it sets PATH before a command', 'PATH=. npm test', 'CI=1 PATH=. a', 'a; PATH=x b'],
    ['it sets LD_PRELOAD before a command', 'LD_PRELOAD=x npx a'],
    ['it sets NODE_OPTIONS before a command', 'NODE_OPTIONS="-r ./x" npm test'],
    ['it has a command substitution', 'FOO=$(rm x) npx a', 'CI="`rm x`" a'],
    ['"eval" changes what the shell does', 'CI=1 eval a', 'FOO=1 eval a', 'FOO=1 command eval a'],
    ['it has a wildcard in the name of a command', 'r? a', '/bin/r* a', '* a', '[a]b', 'a; b*'],
    ['it has a command without a name', '"" a', "'' a"],
    ['it has a job instead of a command', '%1', '%vi &'],
    ['it has a control character', 'a\0', 'a \x1b[2J', 'a\rb', 'a "\x07"', 'a \x7f', 'a \x85'],
    [
      'it has a character that is invisible or looks like another one',
      'a\u00a0b',
      'a\u2003b',
      'a "\u202e"',
      'a \u200b',
    ],
    [
      'it has a character that is invisible or looks like another one',
      'a \u2800',
      'a\u037e b',
      'a\u3164b',
      'a\u2028b',
    ],
    ['it is not well-formed Unicode', 'a \ud800'],
    ['it has a quote that is not closed', "a 'b", 'a "b', 'a "b\\"', "a 'b\\'c'"],
    ['it has a backslash at its end', 'a \\', 'a b\\'],
    ['it has a comment that ends with a backslash', 'a # b\\\nc'],
    ['it has no command', '', ' \n\t', '# a', '\\\n'],
    ['its last command is missing', 'a &&', 'a |', 'a || # b', 'a |&\n', 'a; >/dev/null'],
    ['it has ";" where a command should be', ';', '; a', 'a;;b', 'a & ; b', 'a\n;b'],
    ['it has "&&" where a command should be', '&& a', 'a & && b', 'a && && b'],
    ['it has "|" where a command should be', '| a', 'a || | b'],
    ['it has "" where a command should be', '>/dev/null\na'],
  ]
  for (const [reason, ...examples] of lines) {
    for (const line of examples) assert.equal(lex(line), reason, JSON.stringify(line))
  }
})

test('"lexShell() does not accept a reserved word of the shell as a command"', () => {
  const words =
    '! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while'
  for (const word of words.split(' ')) {
    for (const line of [`${word} a`, `a; ${word}`, `a && ${word} b`, `'${word}' a`]) {
      assert.equal(lex(line), `it has the shell's own word "${word}"`, line)
    }
  }
})

test('lexShell() rejects builtins that run their arguments or change what later commands mean', () => {
  const names =
    '. alias bind builtin declare enable eval exec export hash let mapfile read set source trap unset'
  for (const name of names.split(' ')) {
    for (const line of [`${name} a`, `a; ${name} b`, `"${name}" a`, `\\${name} a`, `command ${name} a`]) {
      assert.equal(lex(line), `"${name}" changes what the shell does`, line)
    }
  }
  assert.equal(lex('command -p command eval a'), '"eval" changes what the shell does')
  for (const line of [
    "printf -v 'a[$(id)]' b",
    "test -v 'a[$(id)]'",
    "[ 'a[$(id)]' -eq 0 ]",
    "printf %d 'a[0]'",
  ]) {
    assert.match(lex(line) as string, /^"(printf|test|\[)" may evaluate its arguments$/, line)
  }
})

test('lexShell() allows stars in the name of a command for patterns, and knows which are quoted', () => {
  const lexed = lexShell(`g*t "a*"b*\\* '*'`, { isPattern: true })
  assert.ok('commands' in lexed)
  assert.deepEqual(
    lexed.commands[0]!.map(({ text, parts }) => [text, parts]),
    [
      ['g*t', ['g', 't']],
      ['a*b**', ['a*b', '*']],
      ['*', ['*']],
    ],
  )
  assert.equal(lex('g?t a', true), 'it has a wildcard in the name of a command')
})

test('lexShell() reads a long line', () => {
  const long = 'x'.repeat(5_000)
  assert.deepEqual(lex(`a "${long}" '${long}' ${long}`), [['a', long, long, long]])
  assert.equal(lex(`a "${long}\\"`), 'it has a quote that is not closed')
  assert.equal((lex('a;'.repeat(8_000)) as string[][]).length, 8_000)
})

for (const shell of ['sh', 'bash']) {
  test(`a here-document of cat is the text that ${shell} passes on`, () => {
    for (const body of ['a\n\nb\n\n', "it's `f(g())` $x", '" \\" (a) \\n #', ' EOF\n\tEOF', '']) {
      const line = documentLine(body).replace('git', 'p')
      const [, ...words] = (lex(line) as string[][])[0]!
      assert.deepEqual(shellWords(shell, [`cat() { /bin/cat; }; ${line}`]), [[words]], line)
    }
  })

  test(`lexShell() finds the words that ${shell} finds`, () => {
    const lines = fc.sample(plainLines, 300).filter(({ text }) => shell === 'bash' || !text.includes('|&'))
    const ran = shellWords(
      shell,
      lines.map(({ text }) => text),
    )
    for (const [i, { text, commands, runs }] of lines.entries()) {
      const named = commands.map((words) => ['p', ...words])
      assert.deepEqual(lex(text), named, JSON.stringify(text))
      const expected = sortedCommands(commands.filter((_, place) => runs[place]))
      assert.deepEqual(ran[i], expected, JSON.stringify(text))
    }
  })

  test(`no command that ${shell} runs escapes lexShell(), for any line`, () => {
    const lines = fc.sample(soups, 1_500).flatMap((text) => {
      const commands = lex(text)
      return typeof commands === 'string' ? [] : [{ text, commands }]
    })
    const ran = shellWords(
      shell,
      lines.map(({ text }) => text),
    )
    for (const [i, { text, commands }] of lines.entries()) {
      const known = sortedCommands(commands.filter(([name]) => name === 'p').map(([, ...words]) => words))
      const isAllRun = known.length === commands.length && !/&&|\|\||\|&/.test(text)
      if (isAllRun) assert.deepEqual(ran[i], known, JSON.stringify(text))
      for (const command of ran[i]!) {
        const place = known.findIndex((one) => isDeepStrictEqual(one, command))
        assert.ok(place >= 0, `${JSON.stringify(text)} runs p ${JSON.stringify(command)}`)
        known.splice(place, 1)
      }
    }
  })
}

test('a line with a hostile construct is opaque to lexShell()', () => {
  const anywhere = [
    '$(p)',
    '`p`',
    '$x',
    `\${x}`,
    '$((1))',
    '"$(p)"',
    '"`p`"',
    "$'x'",
    '<(p)',
    '>f',
    '2>f',
    '<f',
    '<<E',
    '~',
    '{a,b}',
  ]
  const characters = [
    '\0',
    '\x1b',
    '\r',
    '\u00a0',
    '\u200b',
    '\u202e',
    '\ud800',
    '(',
    ')',
    '&>f',
    '>&f',
    '<<<x',
    ';;',
  ]
  const first = [
    'PATH=.',
    '!',
    'time',
    'if',
    'while',
    'eval',
    'exec',
    '.',
    'source',
    'coproc',
    'f() {',
    '{',
    '[[',
    'export A;',
    '*',
  ]
  fc.assert(
    fc.property(plainLines, fc.nat(), fc.boolean(), fc.nat(), ({ text, gaps }, gap, isFirst, pick) => {
      const snippets = [...anywhere, ...characters, ...(isFirst ? first : [])]
      const place = gaps[gap % gaps.length]! + (isFirst ? 0 : 1) // before or after a `p`
      const snippet = ` ${snippets[pick % snippets.length]} `
      const line = text.slice(0, place) + snippet + text.slice(place)
      assert.equal(typeof lex(line), 'string', JSON.stringify(line))
    }),
    { numRuns: propertyRuns(2_000) },
  )
})

test('quoteWord() writes a word that lexShell() reads unchanged', () => {
  for (const word of ['git', 'a/b.c', '-x', '@%+:,']) assert.equal(quoteWord(word), word)
  assert.equal(quoteWord("it's *"), "'it'\\''s *'")
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const word = text.replace(/[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, ' ')
      const commands = lex(`p ${quoteWord(word)}`)
      if (typeof commands === 'string') assert.match(commands, /character/)
      else assert.deepEqual(commands, [['p', word]])
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('lexShell() rejects lines that would take long to judge', () => {
  assert.ok('commands' in lexShell('a'.repeat(16_384)))
  assert.deepEqual(lexShell('a'.repeat(16_385)), { opaque: 'it is longer than 16,384 characters' })
})
