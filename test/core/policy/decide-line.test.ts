import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decide } from '../../../src/core/policy/decide.ts'
import { parseRule } from '../../../src/core/policy/pattern.ts'
import type { PolicyContext } from '../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'
import { checkLines, judgeLine } from '../../support/policy-lines.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { plainLines, soups } from '../../support/shell-lines.ts'

test('decide() allows a command that a rule matches, and asks about its evil twins', () => {
  checkLines([
    ['allow', ['allow bash(git *)'], ['git', 'git status', 'git  log   -1', 'git commit -m "a; rm -rf b"']],
    [
      'allow',
      ['allow bash(git *)'],
      ["git 'status'", 'g"it" status', 'git \\\n status', 'git log # rm', 'git log 2>&1'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['gitk', 'git-evil', 'git-evil status', 'git\u00a0status', 'Git status', 'GIT status'],
    ],
    ['ask', ['allow bash(git *)'], ['./git status', '/usr/bin/git status', '../git status', 'x/git status']],
    [
      'ask',
      ['allow bash(git *)'],
      ['"git status"', '"git x/../../evil"', "'git ' status", 'git\\ status', '"git" ; evil'],
    ],
    ['ask', ['allow bash(git *)'], ['env git status', 'sudo git status', 'command git status', 'xargs git']],
    ['ask', ['allow bash(git *)'], ['A=b git status', 'GIT_SSH_COMMAND=evil git fetch', 'PATH=. git status']],
    [
      'ask',
      ['allow bash(git *)'],
      ['git status; evil', 'git status && evil', 'git status || evil', 'git status | evil'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['git status & evil', 'git status\nevil', 'evil; git status', 'git status |& evil'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['git status $(evil)', 'git status `evil`', 'git "$(evil)"', 'git "`evil`"', 'git <(evil)'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['git log >~/.bashrc', 'git log > f', 'git log >> f', 'git log &> f', 'git apply < f'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['git apply <<E\nx\nE', 'git apply <<<x', 'git $X', `git \${X}`, 'git $((1))', 'git ~/x'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['! git status', '{ git status; }', '(git status)', 'time git status', 'if git; then git; fi'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['git() { evil; }; git status', 'alias git=evil; git status', 'hash -p /evil git; git x'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['git {a,b}', "git $'\\x3b'", 'git "a', "git 'a", 'git \\', 'git status\0', 'git status\r'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ['git st\u200batus', 'git \u202etxt', 'git stat\u2028us', 'g\u0456t status', ''],
    ],
    ['allow', ['allow bash(npm run *)'], ['npm run', 'npm run test', 'npm run a -- --b', 'npm run "a b"']],
    [
      'ask',
      ['allow bash(npm run *)'],
      ['npm', 'npm install', 'npm runx', 'npm "run x"', 'npm -C .. run x', 'npm  "" run'],
    ],
    ['allow', ['allow bash(npm test)'], ['npm test', 'npm "test"']],
    ['ask', ['allow bash(npm test)'], ['npm test x', 'npm', 'npm testx', 'npm test ""', "npm 'test '"]],
    ['allow', ['allow bash(git * main)'], ['git push main', 'git push origin main', 'git "" main']],
    ['ask', ['allow bash(git * main)'], ['git main', 'git push main x', 'git push mainx']],
    ['allow', ['allow bash(* --version)'], ['node --version', 'a b --version']],
    ['ask', ['allow bash(* --version)'], ['--version', 'node --version x']],
    ['allow', ['allow bash(git*)'], ['gitk', 'git status', 'git-evil']],
    ['allow', [`allow bash(echo '*')`], [`echo '*'`, 'echo *']],
    ['ask', [`allow bash(echo '*')`], ['echo a', 'echo']],
    ['allow', ['allow bash(*)'], ['a', 'a b; c | d']],
    ['ask', ['allow bash(*)'], ['a $(b)', 'a > b', 'eval a']],
    ['allow', ['allow bash'], ['a', 'a $(b)', 'a > b', 'eval a', 'for x in y; do z; done', '\0']],
    ['allow', ['allow *'], ['a', 'a $(b)']],
    ['allow', ['allow bash(caf\u00e9)'], ['cafe\u0301', 'caf\u00e9']],
    ['ask', ['allow read', 'allow edit', 'allow mcp__*', 'allow fetch'], ['ls', 'cat a']],
    ['ask', [], ['ls', 'pwd', 'true', ':']],
  ])
})

test('decide() allows a line when each of its commands is allowed, by any rules', () => {
  const rules = ['allow bash(git *)', 'allow bash(npm test)', 'allow bash(tail *)']
  checkLines([
    [
      'allow',
      rules,
      ['git add . && npm test', 'npm test 2>&1 | tail -5', 'git a; git b\ngit c &', 'git x || npm test'],
    ],
    ['ask', rules, ['npm test && npm publish', 'npm test | tee f', 'git x && (npm test)']],
    [
      'deny',
      [...rules, 'deny bash(git push *)'],
      ['git push', 'git add . && git push -f', 'npm test | git push'],
    ],
    ['ask', [...rules, 'ask bash(git push *)'], ['git push', 'git add . && git push -f']],
    ['deny', [...rules, 'ask bash', 'deny bash(npm *)'], ['git add . && npm test']],
    ['ask', ['allow bash(git push *)', 'ask bash(git *)'], ['git push']],
    ['deny', ['allow bash(git push --dry-run)', 'ask bash', 'deny bash(git push *)'], ['git push --dry-run']],
  ])
})

test('in the mode all, only what is or may be denied is not allowed', () => {
  checkLines(
    [
      ['allow', [], ['ls', 'rm -rf x', 'a $(b)']],
      ['allow', ['ask bash', 'ask bash(rm *)'], ['rm x', 'a $(b)']],
      ['deny', ['deny bash(rm *)'], ['rm x', 'sudo rm x']],
      ['ask', ['deny bash(rm *)'], ['a $(b)', `sh -c 'rm $x'`]],
      ['deny', ['deny bash'], ['a $(b)', 'ls']],
    ],
    { mode: 'all' },
  )
  checkLines([['ask', [], ['ls']]], { mode: 'all', trust: 'unattended' })
})

test('remote and read-only turns run no command, whatever a rule says', () => {
  checkLines([['deny', ['allow bash', 'allow *', 'allow bash(ls *)'], ['ls', 'ls $(x)']]], {
    trust: 'remote',
  })
  checkLines([['deny', ['ask bash', 'allow *'], ['ls', 'ls $(x)']]], { trust: 'remote', mode: 'all' })
  checkLines([['deny', ['allow bash', 'allow *', 'allow bash(ls *)'], ['ls', 'ls $(x)']]], {
    mode: 'read-only',
  })
})

test('decide() gives the reason, and the deciding rule', () => {
  const git = { effect: 'allow', pattern: 'bash(git *)', source: 'rule 0' }
  const push = { effect: 'deny', pattern: 'bash(git push *)', source: 'rule 1' }
  const rules = ['allow bash(git *)', 'deny bash(git push *)']
  const { effect, rule, matched, reason } = judgeLine('git add . && git push', rules)
  assert.deepEqual([effect, rule, matched], ['deny', push, [git, push]])
  assert.equal(reason, 'rule 1 denies bash(git push *)')
  const reasons: [line: string, rules: string[], reason: string][] = [
    ['git log', rules, 'rule 0 allows bash(git *)'],
    ['git log', ['ask bash'], 'rule 0 asks about bash'],
    ['git log | head', rules, 'no rule allows head'],
    [`echo ${'x'.repeat(100)}`, [], `no rule allows echo ${'x'.repeat(75)}`],
    ['a $(b)', [], 'it has a command substitution, and no rule for single commands can allow such a line'],
    [
      'a $(b)',
      ['allow bash', 'deny bash(b)'],
      'it has a command substitution, and could hide something a rule covers: rule 1 denies bash(b)',
    ],
    [
      'ls | sh',
      ['allow bash', 'ask bash(b)'],
      'what it starts cannot be determined, and could hide something a rule covers: rule 1 asks about bash(b)',
    ],
  ]
  for (const [line, texts, expected] of reasons) assert.equal(judgeLine(line, texts).reason, expected)
  assert.equal(judgeLine('ls', [], { mode: 'all' }).reason, 'this turn may do anything that no rule denies')
  assert.equal(judgeLine('ls', [], { mode: 'read-only' }).reason, 'this turn may only read')
  assert.equal(judgeLine('ls', [], { trust: 'remote' }).reason, 'a remote turn never uses bash')
})

test('decide() suggests a rule for each command that is not allowed yet', () => {
  const suggestions: [line: string, rules: string[], ...suggestions: string[]][] = [
    ['npm test', [], 'bash(npm test *)'],
    ['npm test 2>&1', [], 'bash(npm test *)'],
    [`git commit -m "it's *"`, [], 'bash(git commit *)'],
    ['npm run build -- --watch', [], 'bash(npm run build *)'],
    ['cargo clippy --all', [], 'bash(cargo clippy --all)'],
    ['gh pr view 3', [], 'bash(gh pr view *)'],
    ['gh gist list', [], 'bash(gh gist list)'],
    ['eslint src', [], 'bash(eslint src)'],
    ['mkdir a', [], 'bash(mkdir *)'],
    ['tsc -p .', [], 'bash(tsc -p .)'],
    [`rm "it's *"`, [], `bash(rm 'it'\\''s *')`],
    [`touch 'a\nb'`, [], `bash(touch 'a'*'b')`],
    ['git -C x commit', [], 'bash(git -C x commit)'],
    ['git push origin main', [], 'bash(git push origin main)'],
    ['git diff --output=x', [], "bash(git diff '--output=x')"],
    ['npm run', [], 'bash(npm run)'],
    ['npm exec tsc', [], 'bash(npm exec tsc)'],
    ['npm install x', [], 'bash(npm install x)'],
    ['npx tsc', [], 'bash(npx tsc)'],
    ['sh x.sh', [], 'bash(sh x.sh)'],
    ['python3 -c 1', [], 'bash(python3 -c 1)'],
    ['find . -delete', [], 'bash(find . -delete)'],
    ['env make', [], 'bash(env make)'],
    ['timeout 5 npm test', [], 'bash(timeout 5 npm test)'],
    ['curl localhost', [], 'bash(curl localhost)'],
    ['docker run x', [], 'bash(docker run x)'],
    ['docker ps -a', [], 'bash(docker ps *)'],
    ['crabtalk send x', [], 'bash(crabtalk send x)'],
    ['make test', [], 'bash(make test)'],
    ['a $(b)', [], 'bash'],
    ['npm test | tail -5', [], 'bash(npm test *)', 'bash(tail -5)'],
    ['npm test | tail -5', ['allow bash(tail *)'], 'bash(npm test *)'],
    ['npm test; npm test', [], 'bash(npm test *)'],
    ['npm test; ls', ['allow bash'], 'bash(npm test *)', 'bash(ls)'],
  ]
  for (const [line, rules, ...expected] of suggestions) {
    assert.deepEqual(judgeLine(line, rules).suggestions, expected, line)
  }
})

test('decide() suggests nothing for what runs its input, and offers nothing for what starts programs', () => {
  const readers = [
    ...[
      'sh',
      'bash -s',
      '/bin/SH',
      'python3',
      'python3 -u -',
      'python3 -Wdefault',
      'node',
      'node -r ./x',
      'perl -',
    ],
    ...[
      'sudo sh',
      'sudo -s',
      'env python3',
      'xargs sh',
      'xargs bash -c',
      'ssh host',
      'at now',
      'psql -Upostgres',
    ],
    ...[
      'sqlite3 a.db',
      'bash /dev/stdin',
      'uv run -',
      'deno run -',
      'm4',
      'crontab -',
      'dc',
      'docker exec -i c sh',
    ],
  ]
  for (const reader of readers) {
    const { suggestions, offered } = judgeLine(`curl -s a | ${reader}`, [])
    assert.deepEqual([suggestions, offered], [[], []], reader)
  }
  const starters = [
    ...[
      'sh x.sh',
      'bash -c ls',
      'python3 -c 1',
      'node -e 1',
      'node --import ./x.js y.js',
      'sudo ls',
      'ssh host ls',
    ],
    ...["env 'FOO=1' ls", 'timeout 5 npm test', 'npm exec tsc', 'uv run python x.py', 'python3 -m pdb x.py'],
    ...[
      'make -f other.mk',
      'make CC=evil',
      'make -C ../x',
      'npx -c ls',
      'npx -p a b',
      'npx tsx x.ts',
      'npx sh x.sh',
    ],
    ...[
      'node x',
      'perl -e 1',
      'npx env ls',
      'docker exec c sh x.sh',
      'git -c core.pager=x log',
      'crabtalk send x',
      'a $(b)',
    ],
  ]
  for (const starter of starters) {
    const { suggestions, offered } = judgeLine(starter, [])
    assert.deepEqual([suggestions.length, offered], [1, []], starter)
    assert.deepEqual(judgeLine(`npm test; ${starter}`, []).offered, [], starter)
  }
  for (const line of ['npm test', 'git commit -m sh', 'eslint src', 'rm a', 'bun test', 'curl a | tail -5']) {
    const { suggestions, offered } = judgeLine(line, [])
    assert.ok(offered.length > 0, line)
    assert.deepEqual(offered, suggestions, line)
  }
})

test('a line that names a target, a script, a module or a package is offered as it stands, and allows nothing else', () => {
  for (const [line, ...others] of [
    ['make', 'make test'],
    ['make -j4 deploy', 'make deploy', 'make -j4 deploy CC=evil'],
    ['node scripts/build.js --watch', 'node scripts/build.js', 'node other.js', 'node -e 1'],
    ['node --test', 'node --test x.js'],
    ['python3 -m pytest -q', 'python3 -m pytest', 'python3 -m http.server'],
    ['python3 tools/x.py', 'python3 tools/y.py'],
    ['npx vitest run', 'npx vitest', 'npx evil run'],
  ] as const) {
    const { offered } = judgeLine(line, [])
    assert.deepEqual(offered, [`bash(${line})`])
    const rules = offered.map((rule) => `allow ${rule}`)
    assert.equal(judgeLine(line, rules).effect, 'allow', line)
    for (const other of others) assert.equal(judgeLine(other, rules).effect, 'ask', other)
  }
})

test('a line is allowed by its rule rather than by a read-only command in it', () => {
  const readOnly = [{ form: 'echo', paths: [], trees: [] }, undefined]
  const rules = ruleList(['allow bash(sh)'])
  const decision = decide({ kind: 'bash', command: 'echo id | sh', readOnly }, makePolicyContext({ rules }))
  const { effect, rule, reason, builtIn, warnings } = decision
  assert.deepEqual(
    [effect, rule?.pattern, reason, builtIn],
    ['allow', 'bash(sh)', 'rule 0 allows bash(sh)', undefined],
  )
  assert.match(warnings.join(' '), /allow bash\(sh\) permits any command/)
})

test('decide() suggests nothing where no allow rule would help', () => {
  const lines: [line: string, rules: string[], more?: Partial<PolicyContext>][] = [
    ['npm test', ['deny bash(npm *)']],
    ['npm test', ['ask bash(npm *)']],
    ['npm test | ls', ['ask bash(npm *)']],
    ['a $(b)', ['deny bash(npm *)']],
    ['a $(b)', ['allow bash', 'ask bash(npm *)']],
    [`sh -c 'a $b'`, ['deny bash(npm *)']],
    ['ls', [], { trust: 'remote' }],
    ['ls', ['allow ls'], { mode: 'read-only' }],
  ]
  for (const [line, rules, more] of lines) {
    const { effect, suggestions } = judgeLine(line, rules, more)
    assert.deepEqual([effect === 'allow', suggestions], [false, []], line)
    const helped = judgeLine(line, [...rules, 'allow *', 'allow bash', 'allow bash(*)'], more)
    assert.notEqual(helped.effect, 'allow', line)
  }
})

test('the suggestion of decide() is a valid rule, and allows the line', () => {
  const lines = fc.oneof(
    plainLines.map(({ text }) => text),
    soups,
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(lines, (line) => {
      const { effect, suggestions } = judgeLine(line, [])
      assert.equal(effect, 'ask')
      fc.pre(suggestions.length > 0) // none for a program that reads its commands, such as r
      for (const rule of suggestions) parseRule(rule)
      const all = suggestions.map((rule) => `allow ${rule}`)
      assert.equal(judgeLine(line, all).effect, 'allow', all.join('\n'))
    }),
    { numRuns: propertyRuns(3_000) },
  )
})

test('the order of rules does not matter', () => {
  const rule = fc.constantFrom(
    'allow bash',
    'allow bash(a *)',
    'ask bash(a b)',
    'deny bash(c *)',
    'ask bash(*)',
    'deny bash(a x)',
    'allow *',
  )
  const line = fc.constantFrom('a', 'a b', 'c', 'a x; a', 'a $(c)', 'sudo c', 'd', 'a b | c')
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 5 }), line, fc.infiniteStream(fc.nat()), (rules, text, keys) => {
      const shuffled = rules.map((one) => ({ one, key: keys.next().value })).sort((a, b) => a.key - b.key)
      const other = shuffled.map(({ one }) => one)
      assert.equal(judgeLine(text, rules).effect, judgeLine(text, other).effect)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
