import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { decide } from '../../../src/core/policy/decide.ts'
import { parseRule } from '../../../src/core/policy/pattern.ts'
import type { Decision, PolicyAction, PolicyContext, RuleEffect } from '../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const ask: PolicyAction = { kind: 'tool', name: 'ask_user', harmless: true }
const fetch: PolicyAction = { kind: 'tool', name: 'fetch', harmless: false }

function read(path: string): PolicyAction {
  return { kind: 'read', path, shown: path }
}

function edit(path: string): PolicyAction {
  return { kind: 'edit', path, shown: path }
}

function mcp(name: string, tool: string, server = 'fs'): PolicyAction {
  return { kind: 'mcp', name, server, tool }
}

function judge(action: PolicyAction, rules: string[] = [], more: Partial<PolicyContext> = {}): Decision {
  return decide(action, makePolicyContext({ rules: ruleList(rules), ...more }))
}

type Row = [effect: RuleEffect, rules: string[], actions: PolicyAction[]]

function check(rows: readonly Row[], more: Partial<PolicyContext> = {}) {
  for (const [effect, rules, actions] of rows) {
    for (const action of actions) {
      const what = `${JSON.stringify(action)} with ${rules.join(', ')}`
      assert.equal(judge(action, rules, more).effect, effect, what)
    }
  }
}

/** The effects without a rule: reading and changing a file here, reading and changing one elsewhere. */
const STANDARD: [
  trust: PolicyContext['trust'],
  mode: PolicyContext['mode'],
  here: [RuleEffect, RuleEffect],
  away: [RuleEffect, RuleEffect],
  others: RuleEffect[],
][] = [
  ['local', 'ask', ['allow', 'ask'], ['ask', 'ask'], ['allow', 'ask', 'ask']],
  ['local', 'edits', ['allow', 'allow'], ['ask', 'ask'], ['allow', 'ask', 'ask']],
  ['local', 'read-only', ['allow', 'deny'], ['ask', 'deny'], ['allow', 'deny', 'deny']],
  ['local', 'plan', ['allow', 'deny'], ['ask', 'deny'], ['allow', 'deny', 'deny']],
  ['local', 'all', ['allow', 'allow'], ['allow', 'allow'], ['allow', 'allow', 'allow']],
  ['unattended', 'ask', ['allow', 'ask'], ['ask', 'ask'], ['allow', 'ask', 'ask']],
  ['unattended', 'edits', ['allow', 'ask'], ['ask', 'ask'], ['allow', 'ask', 'ask']],
  ['unattended', 'all', ['allow', 'ask'], ['ask', 'ask'], ['allow', 'ask', 'ask']],
  ['remote', 'ask', ['allow', 'allow'], ['deny', 'deny'], ['allow', 'deny', 'deny']],
  ['remote', 'edits', ['allow', 'allow'], ['deny', 'deny'], ['allow', 'deny', 'deny']],
  ['remote', 'read-only', ['allow', 'deny'], ['deny', 'deny'], ['allow', 'deny', 'deny']],
  ['remote', 'plan', ['allow', 'deny'], ['deny', 'deny'], ['allow', 'deny', 'deny']],
  ['remote', 'all', ['allow', 'allow'], ['deny', 'deny'], ['allow', 'deny', 'deny']],
]

test('decide() without rules depends on the class of the turn and its mode', () => {
  for (const [trust, mode, here, away, others] of STANDARD) {
    const effects = (actions: PolicyAction[]) =>
      actions.map((action) => judge(action, [], { trust, mode }).effect)
    const what = `${trust}, ${mode}`
    assert.deepEqual(effects([read('/ws/a'), edit('/ws/a')]), here, what)
    assert.deepEqual(
      effects([read('/ws'), read('/wsx'), edit('/etc/a'), read('/')]),
      [here[0], ...away, away[0]],
      what,
    )
    assert.deepEqual(effects([ask, fetch, mcp('mcp__fs__a', 'a')]), others, what)
  }
})

test("decide() lets a turn use its agent's memory, except a remote turn without a rule", () => {
  const actions = (['recall', 'remember'] as const).map((name): PolicyAction => {
    return { kind: 'tool', name, harmless: name === 'recall', own: true }
  })
  const effects = (more: Partial<PolicyContext>, rules: string[] = []) =>
    actions.map((action) => judge(action, rules, more).effect)
  for (const trust of ['local', 'unattended'] as const) {
    assert.deepEqual(effects({ trust }), ['allow', 'allow'])
    assert.deepEqual(effects({ trust, mode: 'read-only' }), ['allow', 'deny'])
    assert.deepEqual(effects({ trust }, ['ask remember']), ['allow', 'ask'])
  }
  assert.deepEqual(effects({ trust: 'remote' }), ['deny', 'deny'])
  assert.deepEqual(effects({ trust: 'remote' }, ['allow recall']), ['deny', 'deny'])
  assert.deepEqual(effects({ trust: 'remote' }, ['remote allow recall']), ['allow', 'deny'])
})

test('decide() lets a turn read what tools wrote for it, but not change it', () => {
  const more = { readable: ['/cache/s1'] }
  check([['allow', [], [read('/cache/s1'), read('/cache/s1/out')]]], more)
  check([['ask', [], [read('/cache/s10'), read('/cache'), edit('/cache/s1/out')]]], more)
  check([['deny', ['deny read(/cache)'], [read('/cache/s1/out')]]], more)
  check([['allow', [], [read('/cache/s1/out')]]], { ...more, trust: 'remote' })
})

test('an allow rule about a path covers that path and everything below it', () => {
  check([
    ['allow', ['allow edit(src/**)'], ['/ws/src', '/ws/src/a.ts', '/ws/src/.a/b', '/ws/src/a\nb'].map(edit)],
    [
      'ask',
      ['allow edit(src/**)'],
      ['/ws/srcx', '/ws/a/src/b', '/src/a', '/ws', '/WS/src/a', '/ws/SRC/a'].map(edit),
    ],
    ['allow', ['allow edit(src)'], ['/ws/src', '/ws/src/a/b'].map(edit)],
    ['ask', ['allow edit(src)'], ['/ws/srcx', '/ws/a/src', '/ws/Src/a'].map(edit)],
    ['allow', ['allow edit(src/)'], ['/ws/src/a'].map(edit)],
    ['allow', ['allow edit(src/*.ts)'], ['/ws/src/a.ts', '/ws/src/.ts'].map(edit)],
    ['ask', ['allow edit(src/*.ts)'], ['/ws/src/a/b.ts', '/ws/src/a.tsx', '/ws/src/x.ts/b'].map(edit)],
    ['allow', ['allow edit(*/test)'], ['/ws/a/test', '/ws/a/test/b'].map(edit)],
    ['ask', ['allow edit(*/test)'], ['/ws/test', '/ws/a/b/test'].map(edit)],
    ['allow', ['allow edit(.)'], ['/ws', '/ws/a'].map(edit)],
    ['allow', ['allow edit(../shared/**)'], ['/shared/a'].map(edit)],
    ['ask', ['allow edit(../shared/**)'], ['/ws/shared/a', '/a'].map(edit)],
    ['allow', ['allow read(~/notes/**)'], ['/home/ann/notes/a'].map(read)],
    ['ask', ['allow read(~/notes/**)'], ['/home/ann/notesx', '/home/bob/notes/a', '/home/ann/a'].map(read)],
    ['allow', ['allow read(~)'], ['/home/ann', '/home/ann/.ssh/id'].map(read)],
    ['allow', ['allow edit(/etc/**)'], ['/etc/a', '/etc/b/c'].map(edit)],
    ['ask', ['allow edit(/etc/**)'], ['/etcx', '/ws/etc/a', '/'].map(edit)],
    ['allow', ['allow edit(/)'], ['/', '/etc/a'].map(edit)],
    ['allow', ['allow edit(/**)'], ['/', '/etc/a'].map(edit)],
    ['allow', ['allow edit({src,test}/**)'], ['/ws/src/a', '/ws/test/a'].map(edit)],
    ['allow', ['allow edit(app/[id]/a.ts)'], ['/ws/app/[id]/a.ts', '/ws/app/i/a.ts'].map(edit)],
    ['ask', ['allow edit(app/\\[id\\]/a.ts)'], ['/ws/app/i/a.ts'].map(edit)],
    ['ask', ['allow edit(\\,)', 'allow edit(\\[a\\]*)'], ['/ws/\\,', '/ws/\\[a\\]*', '/ws/a'].map(edit)],
    ['allow', ['allow edit(app/(group)/**)'], ['/ws/app/(group)/a'].map(edit)],
    ['ask', ['allow edit(app/(group)/**)'], ['/ws/app/group/a'].map(edit)],
    ['allow', ['allow edit(caf\u00e9)'], ['/ws/cafe\u0301', '/ws/caf\u00e9/a'].map(edit)],
    ['ask', ['allow edit(!src/**)'], ['/ws/test/a'].map(edit)],
    ['allow', ['allow edit'], ['/ws/a', '/ws/a/b'].map(edit)],
    ['ask', ['allow edit'], ['/a', '/wsx/a', '/etc/a', '/home/me/.bashrc'].map(edit)],
    ['allow', ['allow edit(/**)'], ['/a', '/ws/a', '/home/me/.bashrc'].map(edit)],
    ['allow', ['allow read'], ['/a', '/ws/a'].map(read)],
    ['deny', ['allow edit(/**)', 'deny edit'], ['/a', '/ws/a'].map(edit)],
    ['ask', ['allow edit(/**)', 'ask edit'], ['/a', '/ws/a'].map(edit)],
    ['ask', ['allow edit', 'allow bash'], ['/etc/a'].map(read)],
    ['ask', ['allow read', 'allow edit(x)'], ['/ws/a'].map(edit)],
  ])
  check(
    [
      [
        'ask',
        ['allow read(~/**)', 'allow read(~)'],
        ['/notes', '/home/ann/a', resolve('notes'), resolve('')].map(read),
      ],
    ],
    {
      homeDir: '',
    },
  )
  check([['allow', ['allow edit(a)'], [edit('/w[s] (1)/a')]]], { workspace: '/w[s] (1)' })
  check([['allow', ['allow read(etc/**)'], [read('/etc/a')]]], { workspace: '/' })
})

test('a restricting rule covers more', () => {
  check([
    [
      'deny',
      ['deny read(.env)'],
      ['/ws/.env', '/ws/a/.env', '/ws/.ENV', '/ws/.env/a', '/etc/.env'].map(read),
    ],
    ['allow', ['deny read(.env)'], ['/ws/.envrc', '/ws/env', '/ws/a.env'].map(read)],
    ['deny', ['deny read(*.pem)'], ['/ws/a.pem', '/ws/a/b/C.PEM', '/ws/a.pem/b'].map(read)],
    ['allow', ['deny read(*.pem)'], ['/ws/pem', '/ws/a.pemx'].map(read)],
    ['deny', ['deny read(./.env)', 'deny read(a/.env)'], ['/ws/a/.env', '/ws/a/.ENV/b'].map(read)],
    ['allow', ['deny read(a/.env)'], ['/ws/.env', '/ws/b/a/.env'].map(read)],
    ['deny', ['deny edit(src/*)'], ['/ws/src/a', '/ws/src/a/b', '/ws/SRC/a'].map(edit)],
    ['deny', ['deny read(**/secret/*)'], ['/ws/secret/a/b', '/ws/x/Secret/a', '/ws/secret/a\nb'].map(read)],
    ['ask', ['ask read(/ws/a)'], ['/ws/a', '/ws/a/b', '/ws/A'].map(read)],
    ['deny', ['deny edit(*)'], ['/ws/a', '/ws/a/b'].map(edit)],
    ['ask', ['deny edit(*)'], ['/etc/a'].map(edit)],
    ['deny', ['deny edit(**)', 'allow edit'], ['/ws/a/b'].map(edit)],
    ['deny', ['deny read'], ['/ws/a', '/etc/a'].map(read)],
    ['allow', ['deny read', 'deny bash', 'deny mcp__*'], [ask]],
    ['deny', ['deny *', 'allow *'], [ask, fetch, read('/ws/a'), edit('/ws/a'), mcp('mcp__fs__a', 'a')]],
  ])
})

test('deny beats ask, ask beats allow, however narrow they are', () => {
  const path = '/ws/src/a.ts'
  check([
    ['deny', ['allow edit(src/a.ts)', 'ask edit(src)', 'deny edit'], [edit(path)]],
    ['deny', ['deny edit', 'allow edit(src/a.ts)'], [edit(path)]],
    ['ask', ['ask *', 'allow edit(src/a.ts)'], [edit(path)]],
    ['ask', ['allow read', 'ask read(src)'], [read(path)]],
  ])
  check([['allow', ['ask edit'], [edit(path)]]], { mode: 'all' })
  check([['deny', ['deny edit'], [edit(path)]]], { mode: 'all' })
  check([['ask', ['ask edit'], [edit(path)]]], { mode: 'edits' })
  check([['deny', ['allow edit', 'allow *'], [edit(path)]]], { mode: 'read-only' })
  check([['ask', ['ask read'], [read(path)]]], { mode: 'read-only' })
})

test('a rule about MCP tools matches both of their names, and no others', () => {
  check([
    [
      'allow',
      ['allow mcp__fs__*'],
      [mcp('mcp__fs__read_file', 'read/file'), mcp('mcp__fs__a', 'a'), mcp('read', 'read')],
    ],
    [
      'ask',
      ['allow mcp__fs__*'],
      [
        mcp('mcp__fs2__a', 'a', 'fs2'),
        mcp('mcp__fsx__a', 'a', 'fsx'),
        mcp('mcp__x__mcp__fs__a', 'mcp__fs__a', 'x'),
      ],
    ],
    [
      'allow',
      ['allow mcp__fs__read_file'],
      [mcp('mcp__fs__read_file', 'read/file'), mcp('mcp__fs__read_file_312b0c02', 'read_file')],
    ],
    ['allow', ['allow mcp__fs__read/file'], [mcp('mcp__fs__read_file', 'read/file')]],
    [
      'ask',
      ['allow mcp__fs__read/file'],
      [mcp('mcp__fs__read_file', 'read.file'), mcp('mcp__fs__read_file_1', 'read_file')],
    ],
    [
      'ask',
      ['allow mcp__fs__read_file'],
      [
        mcp('mcp__fs__read_files', 'read_files'),
        mcp('mcp__fs__Read_File', 'Read_File'),
        mcp('mcp__fs__', ''),
      ],
    ],
    ['allow', ['allow mcp__fs__a.c'], [mcp('mcp__fs__a_c', 'a.c')]],
    ['ask', ['allow mcp__fs__a.c'], [mcp('mcp__fs__abc', 'abc')]],
    ['allow', ['allow mcp__fs__a\\*'], [mcp('mcp__fs__a_', 'a*')]],
    [
      'ask',
      ['allow mcp__fs__a\\*', 'allow mcp__fs__[ab]', 'allow mcp__fs__b|c'],
      [mcp('mcp__fs__ab', 'ab'), mcp('mcp__fs__a', 'a'), mcp('mcp__fs__c', 'c')],
    ],
    [
      'allow',
      ['allow mcp__*__read_*'],
      [mcp('mcp__fs__read_file', 'read_file'), mcp('mcp__db__read_', 'read_', 'db')],
    ],
    ['ask', ['allow mcp__*__read_*'], [mcp('mcp__fs__write_file', 'write_file')]],
    ['allow', ['allow mcp__fs__caf\u00e9'], [mcp('mcp__fs__caf_', 'cafe\u0301')]],
    [
      'ask',
      ['allow read', 'allow bash', 'allow ask_user', 'allow fetch'],
      [mcp('read', 'read'), mcp('bash', 'bash'), mcp('ask_user', 'ask_user')],
    ],
    [
      'deny',
      ['allow *', 'deny mcp__fs__delete_*'],
      [mcp('mcp__fs__delete_x', 'delete/x'), mcp('mcp__fs__delete_', 'delete_')],
    ],
    ['deny', ['allow *', 'deny mcp__*'], [mcp('x', 'y', 'z')]],
    ['ask', ['allow mcp__fs__a', 'ask mcp__*'], [mcp('mcp__fs__a', 'a')]],
    ['allow', ['allow fetch'], [fetch]],
    ['ask', ['allow fetch_all', 'allow mcp__*'], [fetch]],
  ])
})

test('decide() gives the reason', () => {
  const reasons: [action: PolicyAction, rules: string[], more: Partial<PolicyContext>, reason: string][] = [
    [read('/ws/a'), [], {}, 'it reads in the working directory'],
    [read('/a'), [], {}, 'it reads outside the working directory'],
    [read('/c/a'), [], { readable: ['/c'] }, 'it reads the output a tool wrote for this conversation'],
    [edit('/ws/a'), [], {}, 'it changes a file in the working directory'],
    [edit('/a'), [], {}, 'it changes a file outside the working directory'],
    [edit('/ws/a'), [], { mode: 'edits' }, 'it changes a file in the working directory'],
    [edit('/ws/a'), [], { mode: 'read-only' }, 'this turn may only read'],
    [edit('/ws/a'), [], { mode: 'plan' }, 'plan mode: this turn may only read until its plan is accepted'],
    [edit('/a'), [], { trust: 'remote' }, 'no rule of [permissions.remote] allows it'],
    [fetch, ['allow fetch'], { trust: 'remote' }, 'a remote turn never uses fetch'],
    [ask, [], {}, 'it changes nothing'],
    [fetch, [], {}, 'no rule allows it'],
    [read('/ws/a'), ['deny read(a)'], {}, 'rule 0 denies read(a)'],
  ]
  for (const [action, rules, more, reason] of reasons) assert.equal(judge(action, rules, more).reason, reason)
})

test('decide() names the rules that matched, and the deciding one', () => {
  const { rule, matched } = judge(edit('/ws/src/a'), [
    'allow edit',
    'ask edit(src)',
    'deny edit(test)',
    'ask *',
  ])
  assert.deepEqual(
    [rule?.source, matched.map(({ source }) => source)],
    ['rule 1', ['rule 0', 'rule 1', 'rule 3']],
  )
  assert.equal(judge(edit('/ws/src/a')).rule, undefined)
})

test('decide() suggests a rule for exactly this action', () => {
  const suggestions: [action: PolicyAction, suggestion: string][] = [
    [edit('/ws/src/a.ts'), 'edit(src/a.ts)'],
    [read('/ws'), 'read(.)'],
    [read('/home/ann/notes/a b'), 'read(~/notes/a b)'],
    [read('/home/ann'), 'read(~)'],
    [read('/etc/passwd'), 'read(/etc/passwd)'],
    [edit('/ws/app/[id]/(x)/{a}*'), 'edit(app/\\[id\\]/\\(x\\)/\\{a\\}\\*)'],
    [edit('/ws/~/a'), 'edit(./~/a)'],
    [edit('/ws/$HOME'), 'edit(./$HOME)'],
    [edit('/ws/ a '), 'edit(./ a\\ )'],
    [edit('/ws/a\nb'), 'edit(a?b)'],
    [mcp('mcp__fs__read_file', 'read/file'), 'mcp__fs__read_file'],
    [mcp('read', 'read/(file)'), 'mcp__fs__read/\\(file\\)'],
    [fetch, 'fetch'],
  ]
  for (const [action, suggestion] of suggestions) assert.deepEqual(judge(action).suggestions, [suggestion])
  for (const rule of ['deny edit', 'ask edit(a)'])
    assert.deepEqual(judge(edit('/ws/a'), [rule]).suggestions, [])
  assert.deepEqual(judge(edit('/a'), [], { trust: 'remote' }).suggestions, ['edit(/a)'])
  assert.deepEqual(judge(fetch, [], { trust: 'remote' }).suggestions, [])
})

test('decide() suggests the path of a file elsewhere, whatever edit allows', () => {
  const { effect, reason, suggestions } = judge(edit('/etc/hosts'), ['allow edit'])
  assert.deepEqual([effect, suggestions], ['ask', ['edit(/etc/hosts)']])
  assert.match(reason, /outside the working directory/)
})

test('the suggestion of decide() is a valid rule, and allows the action', () => {
  const odd = fc.oneof(
    fc.constantFrom(...'*?[]{}()\\!,~$ \n\t.-|'),
    fc.string({ unit: 'grapheme', maxLength: 2 }),
    fc.string({ unit: 'binary', maxLength: 1 }),
  )
  const name = fc
    .array(odd, { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join('').replace(/[/\0]/g, '_'))
    .filter((text) => text !== '' && text !== '.' && text !== '..')
  const path = fc
    .tuple(fc.constantFrom('/ws', '/home/ann', '/', '/wsx'), fc.array(name, { maxLength: 3 }))
    .map(([root, names]) => `${root}/${names.join('/')}`.replace(/^\/\//, '/').replace(/(.)\/$/, '$1'))
  const action = fc.oneof(
    path.map(edit),
    path.map(read),
    name.map((tool) => mcp(`mcp__fs__${tool}`, tool)),
    name.map((tool) => mcp(tool, tool)),
  )
  fc.assert(
    fc.property(action, (one) => {
      const [suggestion = ''] = judge(one).suggestions
      parseRule(suggestion)
      assert.equal(judge(one, [`allow ${suggestion}`]).effect, 'allow', suggestion)
    }),
    { numRuns: propertyRuns(3_000) },
  )
})

test('the suggestion of decide() for a path does not cover another', () => {
  const name = fc.string({ unit: fc.constantFrom(...'ab*?[]{}()\\!,~$ .-'), minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(name, name, (one, other) => {
      fc.pre(![one, other].some((text) => /^\.+$/.test(text)) && one !== other)
      const [suggestion = ''] = judge(edit(`/ws/${one}`)).suggestions
      assert.equal(judge(edit(`/ws/${other}`), [`allow ${suggestion}`]).effect, 'ask', suggestion)
    }),
    { numRuns: propertyRuns(2_000) },
  )
})

test('decide() rejects an invalid rule', () => {
  assert.throws(() => judge(ask, ['deny bash(']), { kind: 'invalid' })
})
