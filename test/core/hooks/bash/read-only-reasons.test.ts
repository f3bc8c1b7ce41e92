import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { analyzeLine } from '../../../../src/core/hooks/bash/read-only.ts'
import { decide } from '../../../../src/core/policy/decide.ts'
import type { Decision, PolicyContext } from '../../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../../support/policy-context.ts'
import { makeTree } from '../../../support/trees.ts'

const run = promisify(execFile)
const PATH = process.env['PATH'] ?? ''

const tree = await makeTree({
  'repo/a': 'a',
  'repo/sub/b': 'b',
  'repo/sub/-x': 'b',
  'repo/link': '-> /etc/passwd',
  'repo/folder-link': '-> sub',
  'repo/own/ls': '#!/bin/sh\n',
  'other/a': 'a',
})
after(() => tree[Symbol.asyncDispose]())
const git = (...args: string[]) => run('git', args, { cwd: tree.path('repo') })
await git('init', '-q', '-b', 'main')
await git('add', '.')
await git('-c', 'user.name=Ann', '-c', 'user.email=ann@localhost', 'commit', '-qm', 'one')
await run('mkfifo', [tree.path('repo/pipe')])
await symlink('circle', tree.path('repo/circle'))

test('the reason for asking about a listed command says what prevents it from running', async () => {
  const rows: [line: string, reason: string][] = [
    ['cat link', 'link leads to /etc/passwd, which is outside the working directory'],
    ['cat /etc/passwd', '/etc/passwd is outside the working directory'],
    ['ls && cat link', 'link leads to /etc/passwd, which is outside the working directory'],
    ['git status && cat link', 'link leads to /etc/passwd, which is outside the working directory'],
    ['cat pipe', 'pipe is a pipe, a socket or a device'],
    ['cat circle', `Cannot use the path ${JSON.stringify(tree.path('repo/circle'))}: its links form a loop`],
    ['cat */b', '*/b has a wildcard in the name of a folder'],
    ['cd folder-link && ls', 'folder-link goes through a symbolic link'],
    ['cat sub/closed', 'sub/closed is a file of crabtalk itself'],
    ['grep -r x .', "the folder it reads contains crabtalk's own files"],
    ['diff sub a', 'sub is a folder'],
    [Array(33).fill('ls').join(';'), 'the line has more than 32 commands'],
    ['git diff --no-index a b', 'no rule allows git diff --no-index a b'],
    ['touch x', 'no rule allows touch x'],
  ]
  for (const [line, reason] of rows) {
    const decision = await judge(line)
    assert.equal(decision.effect, 'ask', line)
    assert.equal(decision.reason, reason)
  }
  const beside = await judge('git status && npm test', { rules: ruleList(['allow bash(npm test)']) })
  assert.match(beside.reason, /^the line has commands that may do more than read/)
  const behind = await judge('npm test; cat a', { rules: ruleList(['allow bash(npm test)']) })
  assert.equal(behind.reason, 'an earlier command may change what it reads')
  const limited = await judge('cat link', { mode: 'read-only' })
  assert.equal(limited.effect, 'deny')
  assert.match(limited.reason, /^this turn may only read, and link leads to \/etc\/passwd/)
  const remote = await judge('cat link', { trust: 'remote' })
  assert.equal(remote.reason, 'a remote turn never uses bash') // it learns nothing about files
  assert.equal(
    (await judge('cat *', { workspace: tree.path('repo/sub') })).reason,
    '* matches a file named like an option, -x',
  )
})

test('the reason names the relative folder in PATH, or the program in the working directory', async () => {
  const relative = await judge('ls', {}, { path: `./bin:${PATH}` })
  assert.equal(relative.reason, 'PATH has a folder that is not absolute ("./bin")')
  assert.deepEqual(relative.suggestions, [])
  const own = await judge('ls', {}, { path: `${tree.path('repo/own')}:${PATH}` })
  assert.equal(own.reason, 'PATH finds a ls in the working directory')
  assert.deepEqual(own.suggestions, [])
})

test('a repository that starts programs asks with its configuration key, and offers no rule', async () => {
  const config = tree.path('repo/.git/config')
  const plain = await readFile(config)
  for (const [text, reason] of [
    ['[diff "foo"]\n\ttextconv = x\n', '.git/config starts programs (diff.foo.textconv)'],
    ['[diff]\n\texternal = x\n', '.git/config starts programs (diff.external)'],
    ['[filter "a b"]\n\trequired = true\n', '.git/config starts programs (filter.a b.required)'],
    ['[include]\n\tpath = x\n', '.git/config includes other files (include.path)'],
    [
      '[core]\n\tworktree = /\n',
      '.git/config has a setting that is not known to be harmless (core.worktree)',
    ],
    ['[core] pager = x\n', '.git/config has a line that git may read differently ([core] pager = x)'],
    [
      '[x "\u001b[2J"]\n\ta = 1\n',
      '.git/config has a setting that is not known to be harmless (x.\\x1b[2J.a)',
    ],
  ] as const) {
    await appendFile(config, text)
    const decision = await judge('git status')
    assert.deepEqual([decision.effect, decision.reason, decision.suggestions], ['ask', reason, []])
    await writeFile(config, plain)
  }
  assert.equal((await judge('git status')).effect, 'allow')
})

test('the reason says what is wrong with a repository', async () => {
  type Row = [change: () => Promise<unknown>, undo: () => Promise<unknown>, reason: RegExp]
  const rows: Row[] = [
    [
      () => symlink('/etc/passwd', tree.path('repo/.git/x')),
      () => rm(tree.path('repo/.git/x')),
      /^\.git\/x is not a regular file$/,
    ],
    [
      () => writeFile(tree.path('repo/.git/commondir'), tree.path('other')),
      () => rm(tree.path('repo/.git/commondir')),
      /^the repository is in another folder \(.*\/other\)$/,
    ],
    [
      () => git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`),
      () => git('rm', '-q', '--cached', 'module'),
      /^the repository has sub-modules$/,
    ],
    [
      () => git('update-index', '--split-index'),
      () => git('update-index', '--no-split-index'),
      /^\.git\/index is split, and its other part is not checked$/,
    ],
    ...['HEAD', 'objects', 'refs', 'config'].map(
      (name): Row => [
        () => rename(tree.path(`repo/.git/${name}`), tree.path(`repo/.git/${name}-away`)),
        () => rename(tree.path(`repo/.git/${name}-away`), tree.path(`repo/.git/${name}`)),
        /^\.git is not a complete repository$/,
      ],
    ),
    [
      () => writeFile(tree.path('repo/.git/commondir'), 'nowhere'),
      () => rm(tree.path('repo/.git/commondir')),
      /^\.git is not a complete repository$/,
    ],
  ]
  for (const [change, undo, reason] of rows) {
    await change()
    assert.match((await judge('git status')).reason, reason)
    await undo()
  }
  const { reason } = await judge('git status', { workspace: tree.path('other') })
  assert.equal(reason, 'there is no git repository')
})

test('git reads a repository above the working directory if a rule allows reading it', async () => {
  const at = async (line: string, rules: string[], more: Partial<PolicyContext> = {}) =>
    await judge(
      line,
      { workspace: tree.path('repo/sub'), rules: ruleList(rules), ...more },
      { closed: 'home/.crabtalk' },
    )
  const top = tree.path('repo')
  for (const line of ['git status', 'git diff', 'git log -p -- b', 'cat b && git show']) {
    const decision = await at(line, [])
    assert.equal(decision.effect, 'ask', line)
    assert.equal(
      decision.reason,
      `git reads the repository of ${top}, outside the working directory, and no rule allows reading there`,
    )
    for (const rule of [`allow read(${top}/**)`, 'allow read(/**)'])
      assert.equal((await at(line, [rule])).effect, 'allow', `${line} with ${rule}`)
    assert.equal((await at(line, [`allow read(${top}/sub/**)`])).effect, 'ask')
    assert.equal((await at(line, [`allow read(${top}/**)`, `ask read(${top}/.git/**)`])).effect, 'ask')
  }
  assert.equal((await at('git log', ['allow read'])).reason, `git log only reads in ${top}`)
  const rules = [`allow read(${top}/**)`, `deny read(${top}/secrets/**)`]
  assert.equal((await at('git diff', rules)).effect, 'ask')
  assert.equal((await at('git diff --stat', rules)).effect, 'allow')
  assert.equal((await at('git status', [`allow read(${top}/**)`], { trust: 'unattended' })).effect, 'ask')
  assert.equal((await at('git diff ../a', [`allow read(${top}/**)`])).effect, 'ask')
  const config = tree.path('repo/.git/config')
  const plain = await readFile(config)
  await appendFile(config, '[diff]\n\texternal = x\n')
  const hostile = await at('git diff', [`allow read(${top}/**)`])
  assert.deepEqual(
    [hostile.effect, hostile.reason],
    ['ask', '../.git/config starts programs (diff.external)'],
  )
  await writeFile(config, plain)
  await mkdir(tree.path('repo/sub/.git'))
  assert.equal((await at('git status', [`allow read(${top}/**)`])).effect, 'ask')
  await rm(tree.path('repo/sub/.git'), { recursive: true })
})

test('no rule is offered for a command that asks only because of the others, and each says why', async () => {
  const { offered, suggestions, commands } = await judge('mkdir -p x && ls sub')
  assert.deepEqual(offered, ['bash(mkdir *)'])
  assert.deepEqual(suggestions, ['bash(mkdir *)', 'bash(ls sub)'])
  assert.deepEqual(
    commands?.map(({ text, reason }) => [text, reason]),
    [
      ['mkdir -p x', 'no rule allows mkdir -p x'],
      ['ls sub', 'an earlier command may change what it reads'],
    ],
  )
  const behind = await judge('npm test; cat a', { rules: ruleList(['allow bash(npm test)']) })
  assert.deepEqual(behind.offered, [])
  for (const line of ['git status && npm test', 'git status; cat a | head; npm test', 'npm test & git log'])
    assert.deepEqual((await judge(line)).offered, ['bash(npm test *)'], line)
  const linked = await judge('git status && cat link')
  assert.deepEqual(linked.offered, ['bash(cat link)'])
  const below = await judge('git status && npm test', { workspace: tree.path('repo/sub') })
  assert.deepEqual(below.offered, ['bash(git status)', 'bash(npm test *)']) // git reads outside of the folder
  const ruled = await judge('git status && npm test', { rules: ruleList(['ask bash(git *)']) })
  assert.deepEqual(ruled.offered, [])
})

async function judge(
  command: string,
  more: Partial<PolicyContext> = {},
  { path = PATH, closed = 'repo/sub/closed' } = {},
): Promise<Decision> {
  const workspace = more.workspace ?? tree.path('repo')
  const place = { cwd: workspace, homeDir: tree.path('home'), closed: [tree.path(closed)], path }
  const at = makePolicyContext({ homeDir: place.homeDir, ...more, workspace })
  return decide({ kind: 'bash', command, ...(await analyzeLine(command, place)) }, at)
}
