import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRule } from '../../../src/core/policy/pattern.ts'
import type { PolicyContext } from '../../../src/core/policy/types.ts'
import { judgeLine } from '../../support/policy-lines.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { plainLines, soups } from '../../support/shell-lines.ts'

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
    ...['node --import ./x.js y.js', 'sudo ls', 'ssh host ls'],
    ...[
      "python3 -c 'a\nb'",
      "bash -c 'cat | sh'",
      'CC=./x make',
      'CI=1 sudo ls',
      'timeout 5 npm test',
      'npm exec tsc',
      'uv run python x.py',
      'python3 -m pdb x.py',
    ],
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

test('variables and the text of a here-document do not change which rule is offered and matches', () => {
  const commit = (text: string) => `git add -A && git commit -m "$(cat <<'EOF'\n${text}\nEOF\n)"`
  const rows: [line: string, offered: string[], same: string[], other: string[]][] = [
    ['CI=1 npm test', ['bash(npm test *)'], ['npm test', 'NO_COLOR=1 npm test x'], ['FOO=1 npm test']],
    [
      'FOO=1 CI=1 npx vitest run x',
      ["bash(env 'FOO=1' npx vitest run x)"],
      ["env 'FOO=1' npx vitest run x", 'FOO="1" npx vitest run x'],
      [
        'FOO=2 npx vitest run x',
        'npx vitest run x',
        'PATH=. npx vitest run x',
        'FOO=$(rm x) npx vitest run x',
      ],
    ],
    [
      commit("it's (a)"),
      ['bash(git add *)', 'bash(git commit *)'],
      [commit('b')],
      [commit('b').replace("'EOF'", 'EOF')],
    ],
  ]
  for (const [line, offered, same, others] of rows) {
    const decision = judgeLine(line, [])
    assert.deepEqual([decision.offered, decision.isSavable], [offered, true], line)
    const rules = offered.map((rule) => `allow ${rule}`)
    for (const one of [line, ...same]) assert.equal(judgeLine(one, rules).effect, 'allow', one)
    for (const one of others) assert.equal(judgeLine(one, rules).effect, 'ask', one)
  }
  for (const line of ['CI=1 rm x', 'FOO=1 rm x', 'CI=1 FOO=1 sudo rm x'])
    assert.equal(judgeLine(line, ['allow bash', 'deny bash(rm *)']).effect, 'deny', line)
})

test('code is offered as it stands for the conversation, and a command without an offer says why', () => {
  const reasons: [line: string, offered: string[], reason: string][] = [
    ["python3 -c 'a b'", ["bash(python3 -c 'a b')"], 'no lasting rule: python3 -c runs any code'],
    ['node -e 1', ['bash(node -e 1)'], 'no lasting rule: node -e runs any code'],
    ['bash -c ls', ['bash(bash -c ls)'], 'no lasting rule: bash -c runs any code'],
    ['sh x.sh', ['bash(sh x.sh)'], 'no lasting rule: sh runs any code'],
    ["node -e 'a\nb'", [], 'no rule: node -e runs any code, and a rule is one line'],
    ['node x', [], 'no rule: node runs any code'],
    ['uv run python x.py', [], 'no rule: python runs any code'],
    ['sudo ls', [], 'no rule: sudo starts any program'],
    ['python3', [], 'no rule: python3 runs what is piped into it'],
    ['cat > a.txt <<E\nE', [], 'it writes a.txt, and no rule for single commands can allow such a line'],
  ]
  for (const [line, offered, reason] of reasons) {
    const decision = judgeLine(line, [])
    assert.deepEqual([decision.offered, decision.isSavable], [offered, false], line)
    assert.equal(decision.commands?.[0]?.reason ?? decision.reason, reason)
    assert.ok(offered.length === 0 || judgeLine(line, [`allow ${offered[0]!}`]).effect === 'allow', line)
  }
  assert.deepEqual(
    judgeLine('npm test; node -e 1', []).commands?.map((one) => one.reason),
    ['no rule allows npm test', 'no lasting rule: node -e runs any code'],
  )
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
