import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { commandEnv, hardenedEnv } from '../../../../src/core/hooks/bash/environment.ts'
import { analyzeLine } from '../../../../src/core/hooks/bash/read-only.ts'
import { decide } from '../../../../src/core/policy/decide.ts'
import type { RuleEffect } from '../../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../../support/policy-context.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'

const run = promisify(execFile)
const PATH = process.env['PATH'] ?? ''

test('wildcards in a folder with a name that is not UTF-8 ask', async () => {
  await using tree = await makeTree({ secret: 'x', 'ws/a.txt': 'a', 'ws/sub/b.txt': 'b' })
  assert.equal(await judge(tree, 'cat *.txt'), 'allow')
  await run('bash', ['-c', "ln -s ../secret $'x\\xff.txt'"], { cwd: tree.path('ws') })
  assert.equal(await judge(tree, 'cat *.txt'), 'ask')
  assert.equal(await judge(tree, 'cat sub/*.txt'), 'allow')
  assert.equal(await judge(tree, 'cat é*'), 'ask') // some systems list this name in another spelling
})

test('a wildcard that begins with a dot may match the parent folder', async () => {
  await using tree = await makeTree({ 'ws/.a': 'a', 'ws/sub/.b': 'b', secret: 'x', 'ws/deep': '-> a/b' })
  await mkdir(tree.path('ws/a/b'), { recursive: true })
  await symlink('../../secret', tree.path('ws/a/x'))
  assert.equal(await judge(tree, 'cat deep/../*'), 'ask') // a/*, for the kernel
  for (const line of ['ls .*', 'grep -r x .*', 'ls ..*', 'cat .?'])
    assert.equal(await judge(tree, line), 'ask', line)
  for (const line of ['ls .a*', 'ls sub/.*']) assert.equal(await judge(tree, line), 'allow', line)
})

test('options after an operand are files for programs that treat them as files', async () => {
  await using tree = await makeTree({
    secret: 'x',
    'ws/a': 'a',
    'ws/-f/x': '-> ../../secret',
    'ws/-n': '-> ../secret',
    'ws/-fx/b': 'b',
    'ws/--lines=1': '-> ../secret',
  })
  for (const line of [
    'cut -f1 a -d /etc/hostname',
    'head -1 a -n /etc/hostname',
    'uniq a -f/x',
    'uniq a -f 1',
    'cat a -n',
    'cut -f1 a -fx/../../secret',
    'head a --lines=1',
    'head a --lines=*',
    'sed -n 1p a -n',
    'grep --context x /etc/hostname',
  ]) {
    assert.equal(await judge(tree, line), 'ask', line)
  }
  for (const line of [
    'cut a -d , -f 1',
    'head a -c 5',
    'wc a -l',
    'uniq -c a',
    'cut -d / -f 1 a',
    'cat -n a',
  ])
    assert.equal(await judge(tree, line), 'allow', line)
})

test('no command is recognized when PATH leads into the working directory', async () => {
  await using tree = await makeTree({
    'ws/a': 'a',
    'ws/sub/bin/ls': '#!/bin/sh\n',
    'ws/bin/wc': '#!/bin/sh\n',
    'ws/own/bash': '#!/bin/sh\n',
    'tools/rev': '-> ../ws/bin/wc',
    linked: '-> ws/bin',
  })
  const cases: [path: string | undefined, line: string, effect: RuleEffect][] = [
    [PATH, 'cd sub && ls', 'allow'],
    [`./bin:${PATH}`, 'cd sub && ls', 'ask'],
    [`bin:${PATH}`, 'cat a', 'ask'],
    [`:${PATH}`, 'cat a', 'ask'],
    [`${PATH}:`, 'pwd', 'ask'], // bash itself is looked for there
    [`${tree.path('linked')}:${PATH}`, 'wc a', 'ask'],
    [`${tree.path('tools')}:${PATH}`, 'rev a', 'ask'],
    [`${tree.path('ws/own')}:${PATH}`, 'pwd', 'ask'],
    [`${tree.path('ws/bin')}:${PATH}`, 'cat a', 'allow'],
    ['', 'cat a', 'ask'],
    [undefined, 'cat a', 'allow'], // it is only asked about
  ]
  for (const [path, line, effect] of cases)
    assert.equal(await judge(tree, line, { path }), effect, `${line} with PATH=${path}`)
})

test('a path that is neither a file nor a folder is not read without asking', {
  timeout: 20_000,
}, async () => {
  await using tree = await makeTree({ 'ws/a': 'a' })
  await run('mkfifo', [tree.path('ws/pipe')])
  for (const line of ['cat pipe', 'head -1 pipe', 'wc p*', 'sort a pipe', 'cmp a pipe'])
    assert.equal(await judge(tree, line), 'ask', line)
})

test('no file of a repository delays a decision, or is replaced by another one', {
  timeout: 60_000,
}, async () => {
  await using tree = await makeRepository()
  for (const name of [
    'config',
    'HEAD',
    'index',
    'packed-refs',
    'shallow',
    'rebase-merge/done',
    'objects/x',
  ]) {
    const path = tree.path(`ws/.git/${name}`)
    const before = await readFile(path).catch(() => undefined)
    if (name.startsWith('rebase')) await mkdir(tree.path('ws/.git/rebase-merge'))
    await rm(path, { force: true })
    await run('mkfifo', [path])
    assert.equal(await judge(tree, 'git status'), 'ask', `a pipe as ${name}`)
    await rm(path)
    for (const target of ['/dev/zero', tree.path('secret')]) {
      await symlink(target, path)
      assert.equal(await judge(tree, 'git log -p'), 'ask', `${name} -> ${target}`)
      await rm(path)
    }
    if (before) await writeFile(path, before)
    if (name.startsWith('rebase')) await rm(tree.path('ws/.git/rebase-merge'), { recursive: true })
    assert.equal(await judge(tree, 'git status'), 'allow', name)
  }
  await rename(tree.path('ws/.git'), tree.path('ws/git'))
  await run('mkfifo', [tree.path('ws/.git')])
  assert.equal(await judge(tree, 'git status'), 'ask')
})

test('git reads no repository outside the working directory', async () => {
  await using tree = await makeRepository()
  await run('bash', ['-c', 'mkdir private; mv ws/.git private; ln -s ../private/.git ws/.git'], {
    cwd: tree.root,
  })
  assert.equal(await judge(tree, 'git log -p'), 'ask', 'a link')
  await rm(tree.path('ws/.git'))
  await mkdir(tree.path('ws/fake'))
  await writeFile(tree.path('ws/.git'), 'gitdir: fake\n')
  await writeFile(tree.path('ws/fake/gitdir'), tree.path('ws/.git'))
  await writeFile(tree.path('ws/fake/commondir'), tree.path('private/.git'))
  await writeFile(tree.path('ws/fake/HEAD'), 'ref: refs/heads/main\n')
  assert.equal(await judge(tree, 'git log -p'), 'ask', 'a common folder elsewhere')
  await rm(tree.path('ws/.git'))
  const git = (...args: string[]) => run('git', args, { cwd: tree.path('ws') })
  await git('init', '-q', '-b', 'main')
  assert.equal(await judge(tree, 'git log -p'), 'allow')
  await writeFile(tree.path('ws/.git/commondir'), tree.path('private/.git'))
  assert.equal(await judge(tree, 'git log -p'), 'ask', 'a common folder of a plain repository')
  await rm(tree.path('ws/.git/commondir'))
  await mkdir(tree.path('ws/.git/objects/info'), { recursive: true })
  await writeFile(tree.path('ws/.git/objects/info/alternates'), tree.path('private/.git/objects'))
  assert.equal(await judge(tree, 'git show HEAD'), 'ask', 'alternates')
  await rm(tree.path('ws/.git/objects/info/alternates'))
  await rm(tree.path('ws/.git/objects/pack'), { recursive: true, force: true })
  await symlink(tree.path('private/.git/objects/pack'), tree.path('ws/.git/objects/pack'))
  assert.equal(await judge(tree, 'git show HEAD'), 'ask', 'packs elsewhere')
})

test('a configuration that names other files asks', async () => {
  await using tree = await makeRepository()
  const config = tree.path('ws/.git/config')
  const plain = await readFile(config)
  assert.equal(await judge(tree, 'git status'), 'allow')
  for (const text of ['[core]\n\texcludesFile = /dev/zero\n', '[lfs "extension.x"]\n\tclean = ./evil %f\n']) {
    await writeFile(config, plain + text)
    assert.equal(await judge(tree, 'git status'), 'ask', text)
  }
  await writeFile(config, plain)
  await makeEvil(tree)
  for (const [name, text] of [
    ['.git/commondir', '../evil\n'],
    ['.git/commondir', '../evil\nx\n'],
    ['.git/commondir', ' ../evil'],
  ] as const) {
    await writeFile(tree.path(`ws/${name}`), text)
    assert.equal(await judge(tree, 'git diff'), 'ask', JSON.stringify(text))
    await rm(tree.path(`ws/${name}`))
  }
})

test('git show may show a file, with any options', async () => {
  await using tree = await makeRepository()
  const rules = ['deny read(secrets/**)']
  for (const option of ['--stat', '--name-only', '--no-patch', '--quiet', '-s', '--oneline', ''])
    assert.equal(await judge(tree, `git show ${option} HEAD:secrets/key`, { rules }), 'ask', option)
  assert.equal(await judge(tree, 'git show --stat HEAD:a'), 'allow')
})

test('the environment does not change how a command is judged', () => {
  const names = ['POSIXLY_CORRECT', 'BASHOPTS', 'SHELLOPTS', 'GLOBIGNORE', 'GREP_OPTIONS']
  const more = ['BASH_ENV', 'BASH_FUNC_ls%%', 'GIT_DIR', 'RIPGREP_CONFIG_PATH']
  const env = Object.fromEntries([...names, ...more].map((name) => [name, 'x']))
  const [plain, hardened] = [commandEnv(env), hardenedEnv(env)]
  assert.deepEqual(
    names.filter((name) => name in plain),
    [],
  )
  assert.deepEqual(
    [...names, ...more].filter((name) => name in hardened),
    [],
  )
  assert.equal(plain['BASH_ENV'], 'x')
  assert.match(plain['PATH'] ?? '', /^(\/[\w/]+:?)+$/)
})

async function judge(
  tree: Tree,
  line: string,
  { rules = [], ...more }: { rules?: string[]; path?: string | undefined } = {},
): Promise<RuleEffect> {
  const [workspace, homeDir] = [tree.path('ws'), tree.path('home')]
  const path = 'path' in more ? more.path : PATH
  const analysis = await analyzeLine(line, { cwd: workspace, homeDir, closed: [], path })
  const at = makePolicyContext({ workspace, homeDir, rules: ruleList(rules) })
  return decide({ kind: 'bash', command: line, ...analysis }, at).effect
}

async function makeRepository(): Promise<Tree> {
  const tree = await makeTree({ secret: 'TOP', 'ws/a': 'a', 'ws/secrets/key': 'TOP' })
  const git = (...args: string[]) => run('git', args, { cwd: tree.path('ws') })
  await git('init', '-q', '-b', 'main')
  await git('config', 'user.name', 'Ann')
  await git('config', 'user.email', 'ann@localhost')
  await git('add', '.')
  await git('commit', '-qm', 'one')
  return tree
}

/** Returns a copy of the repository whose configuration starts a program. */
async function makeEvil(tree: Tree): Promise<void> {
  await cp(tree.path('ws/.git'), tree.path('ws/evil'), { recursive: true })
  await writeFile(tree.path('ws/evil/config'), '[diff]\n\texternal = ./x\n')
}
