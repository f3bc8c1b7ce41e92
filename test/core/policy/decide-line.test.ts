import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decide } from '../../../src/core/policy/decide.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'
import { checkLines, judgeLine } from '../../support/policy-lines.ts'
import { propertyRuns } from '../../support/property-runs.ts'

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

test('commands about credentials and trust always ask, and are refused when the user is not there', () => {
  const guarded = [
    'crabtalk vault get TOKEN --reveal',
    'crabtalk vault env TOKEN | cat',
    '/usr/local/bin/crabtalk vault header TOKEN',
    'crabtalk vault set TOKEN <<<x',
    'crabtalk --no-color mcp token far',
    'crabtalk trust --yes',
    'cd x && crabtalk trust . --yes',
    'crabtalk trust --yes -- --list',
    'crabtalk trust --list',
    'crabtalk $V get TOKEN',
    'crabtalk mcp "$V" far',
    'crabtalk mcp list; (crabtalk vault get TOKEN)',
    'x=$(crabtalk mcp list) y=$(crabtalk vault get TOKEN)',
    'for i in 1; do crabtalk mcp list; crabtalk vault get TOKEN; done',
    '(crabtalk va"ult" get TOKEN)',
    '(crabtalk va\\ult get TOKEN)',
    '(crabtalk \\\n vault get TOKEN)',
    '(crabtalk $V get TOKEN)',
    '(crabtalk `echo vault` get TOKEN)',
    '(crabtalk$IFS vault get TOKEN)',
    'env A=b crabtalk vault get TOKEN',
    "sh -c 'crabtalk vault get TOKEN'",
    'echo $(crabtalk vault get TOKEN)',
    'x=$(crabtalk mcp token far); echo $x',
  ]
  const rules = ['allow bash(crabtalk *)', 'allow bash', 'allow *', 'allow bash(crabtalk vault get *)']
  const open = [
    'crabtalk vault list',
    'crabtalk vault explain TOKEN',
    'crabtalk trust list',
    'crabtalk mcp list',
    '(crabtalk mcp list)',
    'x=`crabtalk vault list`; (cat ~/.crabtalk/$x)',
    'for i in 1; do crabtalk trust list; crabtalk mcp ping "$i"; done',
  ]
  checkLines([
    ['ask', rules, guarded],
    ['allow', rules, open],
  ])
  checkLines([['ask', rules, guarded]], { mode: 'all' })
  checkLines([['deny', rules, guarded]], { mode: 'plan' })
  for (const line of guarded) {
    const decision = decide(
      { kind: 'bash', command: line },
      makePolicyContext({
        trust: 'unattended',
        rules: ruleList(rules).map((one) => ({ ...one, for: 'unattended' })),
      }),
    )
    assert.deepEqual([decision.effect, decision.offered, decision.suggestions], ['deny', [], []], line)
    const verdict = judgeLine(line, rules)
    assert.deepEqual([verdict.offered, verdict.suggestions], [[], []], line)
  }
  assert.equal(
    judgeLine(guarded[0]!, rules).reason,
    'crabtalk vault get is about credentials or trust, which no rule allows',
  )
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
