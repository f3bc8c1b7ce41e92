import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { link, lstat, mkdir, readdir, readFile, readlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { READ_ONLY_NAMES } from '../../../../src/core/base/permission-lists.ts'
import { hardenedEnv } from '../../../../src/core/hooks/bash/environment.ts'
import { analyzeLine } from '../../../../src/core/hooks/bash/read-only.ts'
import { decide } from '../../../../src/core/policy/decide.ts'
import { READ_ONLY_COMMANDS } from '../../../../src/core/policy/read-only/commands.ts'
import type { PolicyContext, RuleEffect } from '../../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../../support/policy-context.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'

const run = promisify(execFile)
/** Lines that run without asking in the tree of makeProject(), and change nothing. WS is its root. */
const READ_ONLY_LINES = await readTable('read-only-lines.txt')
/** Lines that ask there: they write, start programs, read elsewhere, or are not understood. */
const OTHER_LINES = await readTable('asked-lines.txt')
/** Lines that run without asking. */
const GROUP = 20
const PATH = process.env['PATH'] ?? ''

const box = await makeProject()
after(() => box[Symbol.asyncDispose]())

test('every line that is known to change nothing runs without asking', async () => {
  assert.deepEqual(await others(READ_ONLY_LINES, 'allow'), [])
  assert.ok(READ_ONLY_LINES.length > 200)
})

test('every other line asks', async () => {
  assert.deepEqual(await others(OTHER_LINES, 'ask'), [])
  assert.ok(OTHER_LINES.length > 380)
})

test('no line that is known to change nothing changes anything', async () => {
  const before = await snapshot(box.root)
  for (let at = 0; at < READ_ONLY_LINES.length; at += GROUP) {
    const lines = READ_ONLY_LINES.slice(at, at + GROUP)
    await Promise.all(lines.map(execute))
    assert.deepEqual(await snapshot(box.root), before, lines.join(' | '))
  }
})

test('the displayed names are those of the forms', () => {
  const names = [...READ_ONLY_COMMANDS.keys()].filter((name) => name !== '[' && name !== ':')
  assert.equal(READ_ONLY_NAMES, names.join(', '))
})

test('rules come before the built-in forms, and commands do not read what a rule denies to read', async () => {
  const rows: [effect: RuleEffect, rules: string[], lines: string[]][] = [
    ['ask', ['ask bash(ls *)'], ['ls', 'ls src']],
    ['deny', ['deny bash(cat *)'], ['cat README.md', 'ls | cat']],
    ['ask', ['ask bash'], ['ls', 'git status']],
    ['deny', ['deny bash', 'allow bash(ls *)'], ['ls']],
    ['ask', ['ask read_only_commands'], ['ls', 'cat README.md', 'git status', 'pwd']],
    ['allow', ['ask read_only_commands', 'allow bash(ls *)'], ['ls', 'ls src']],
    [
      'ask',
      ['deny read(.env)'],
      ['cat .env', 'head -1 .env', 'cat src/../.env', 'cat README.md .env', 'grep x .env'],
    ],
    [
      'ask',
      ['deny read(.env)'],
      ['cat .e*', 'cat inside-link-to-env', 'wc -l .env', 'diff .env README.md', 'jq . .env'],
    ],
    [
      'ask',
      ['deny read(.env)'],
      ['grep -r x .', 'rg x', 'git diff', 'git log -p', 'git show', 'git show HEAD:.env'],
    ],
    [
      'allow',
      ['deny read(.env)'],
      ['ls', 'cat README.md', 'git status', 'git log', 'git diff --stat', 'find .'],
    ],
    [
      'ask',
      ['ask read(docs/**)'],
      ['cat docs/guide.md', 'ls docs/x', 'sed -n 1p docs/guide.md', 'grep -r x docs'],
    ],
    ['allow', ['deny read(~/.ssh/**)', 'deny read(/etc/**)'], ['grep -r x .', 'git diff', 'rg x src']],
    ['ask', ['deny read'], ['cat README.md', 'ls', 'git diff']],
    ['allow', ['deny read'], ['echo a', 'date', 'pwd']],
  ]
  for (const [effect, rules, lines] of rows) {
    for (const line of lines)
      assert.equal(await judge(line, { rules: ruleList(rules) }), effect, `${line} with ${rules}`)
  }
})

test('a read-only command needs permission to read in the working directory', async () => {
  assert.equal(await judge('cat README.md', { mode: 'read-only' }), 'allow')
  assert.equal(await judge('ls -la && git diff', { mode: 'read-only' }), 'allow')
  assert.equal(await judge('touch x', { mode: 'read-only' }), 'deny')
  assert.equal(await judge('ls; touch x', { mode: 'read-only' }), 'deny')
  assert.equal(await judge('cat .env', { mode: 'read-only', rules: ruleList(['deny read(.env)']) }), 'deny')
  assert.equal(await judge('cat README.md', { trust: 'unattended' }), 'allow')
  assert.equal(await judge('cat README.md', { trust: 'remote' }), 'deny')
})

test('after a command that may change something, only commands without file names run without asking', async () => {
  const rules = ruleList(['allow bash(npm test *)', 'allow bash(ln *)', 'allow bash(pushd *)'])
  assert.equal(await judge('npm test 2>&1 | tail -5', { rules }), 'allow')
  assert.equal(await judge('npm test | grep -c ok | wc -l', { rules }), 'allow')
  assert.equal(await judge('ls src && npm test', { rules }), 'allow')
  assert.equal(await judge('ln -s / x && cat x/etc/passwd', { rules }), 'ask')
  assert.equal(await judge('pushd / && cat README.md', { rules }), 'ask')
  assert.equal(await judge('npm test; ls', { rules }), 'ask')
  assert.equal(await judge('git status && npm test', { rules }), 'ask') // git would not be hardened
})

test('git runs nothing that a repository configures', async () => {
  await using evil = await makeProject()
  const at = (line: string) => judge(line, { workspace: evil.path('project') })
  assert.equal(await at('git status'), 'allow')
  const config = await readFile(evil.path('project/.git/config'), 'utf8')
  for (const [text, line] of [
    ['[filter "x"]\n\tclean = touch x\n', 'git status'],
    ['[diff]\n\texternal = touch x\n', 'git diff'],
    ['[diff "x"]\n\ttextconv = touch x\n', 'git log -p'],
    ['[diff "x"]\n\tcommand = touch x\n', 'git diff'],
    ['[gpg]\n\tprogram = touch\n', 'git log'],
    ['[include]\n\tpath = /tmp/x\n', 'git status'],
    ['[core]\n\tworktree = /\n', 'git status'],
    ['[core] pager = touch x\n', 'git log'],
    ['[remote "o"]\n\tpromisor = true\n', 'git show'],
    ['[extensions]\n\tworktreeConfig = true\n', 'git status'],
    ['[alias]\n\tx = a \\\n[filter "x"]\n', 'git status'],
  ] as const) {
    await writeFile(evil.path('project/.git/config'), config + text)
    assert.equal(await at(line), 'ask', text)
  }
  await writeFile(
    evil.path('project/.git/config'),
    `${config}[core]\n\tfsmonitor = touch "$PWD/ran"\n\thooksPath = evil\n`,
  )
  await mkdir(evil.path('project/evil'))
  await writeFile(evil.path('project/evil/post-index-change'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
  await utimes(evil.path('project/README.md'), 1, 1)
  for (const line of ['git status', 'git diff', 'git log -p', 'git blame README.md', 'git ls-files -m']) {
    assert.equal(await at(line), 'allow', line)
    await run('bash', ['-c', line], {
      cwd: evil.path('project'),
      env: hardenedEnv({ PATH, HOME: evil.path('home') }),
    })
  }
  assert.ok(!(await readdir(evil.path('project'))).includes('ran'))
})

test('git asks outside of a plain repository in the working directory', async () => {
  assert.equal(await judge('git status', { workspace: box.path('project/src') }), 'ask')
  assert.equal(await judge('git status', { workspace: box.path('bare') }), 'ask')
  assert.equal(await judge('git status', { workspace: box.path('home') }), 'ask')
  await using other = await makeProject()
  const git = (...args: string[]) => run('git', args, { cwd: other.path('project') })
  await git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', box.path('project'), 'sub')
  await git('config', '--remove-section', 'submodule.sub')
  assert.equal(await judge('git status', { workspace: other.path('project') }), 'ask')
  assert.equal(await judge('git diff', { workspace: other.path('project') }), 'ask')
  assert.equal(await judge('git log', { workspace: other.path('project') }), 'allow')
  await git('worktree', 'add', '-q', other.path('project/tree'))
  assert.equal(await judge('git log', { workspace: other.path('project/tree') }), 'ask') // of a repository outside
  assert.equal(await judge('cd tree && git log', { workspace: other.path('project') }), 'allow')
  await writeFile(other.path('project/docs/.git'), `gitdir: ${box.path('project/.git')}\n`)
  assert.equal(await judge('git log', { workspace: other.path('project/docs') }), 'ask')
})

test('a program of the working directory is not a built-in form', async () => {
  const path = `${box.path('project/bin')}:${box.path('project/node_modules/.bin')}:${PATH}`
  assert.equal(await judge('tree', {}, { path }), 'ask')
  assert.equal(await judge('ls', {}, { path }), 'allow')
  assert.equal(await judge('rev README.md', {}, { path }), 'ask')
  assert.equal(await judge('echo a', {}, { path }), 'allow')
})

test('commands do not read what tools may not read', async () => {
  const closed = [box.path('project/closed')]
  const at = (line: string) => judge(line, {}, { closed })
  for (const line of [
    'cat closed',
    'cat clos*',
    'wc -l README.md closed',
    'grep -r x .',
    'rg x',
    'cat link-to-closed',
  ]) {
    assert.equal(await at(line), 'ask', line)
  }
  for (const line of ['cat README.md', 'grep -r x src', 'ls']) assert.equal(await at(line), 'allow', line)
})

/** Returns the lines with an unexpected verdict. */
async function others(lines: readonly string[], effect: RuleEffect): Promise<string[]> {
  const effects = await Promise.all(lines.map((line) => judge(line)))
  return lines.filter((_, i) => effects[i] !== effect)
}

/** Runs a line as the tool would; missing programs and files do not matter. */
async function execute(line: string): Promise<void> {
  const env = hardenedEnv({ PATH, HOME: box.path('home') })
  const running = run('bash', ['-c', line.replaceAll('WS', quoted(project()))], { cwd: project(), env })
  running.child.stdin?.end()
  await running.catch(({ code }: { code: unknown }) => assert.equal(typeof code, 'number', line))
}

/** Splits text into command lines; `\\n` in one is a line break. */
async function readTable(name: string): Promise<string[]> {
  const text = await readFile(join(import.meta.dirname, name), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('\\n', '\n'))
}

function project(): string {
  return box.path('project')
}

async function judge(
  line: string,
  more: Partial<PolicyContext> = {},
  { path = PATH, closed = [] as string[] } = {},
): Promise<RuleEffect> {
  const workspace = more.workspace ?? project()
  const command = line.replaceAll('WS', quoted(workspace))
  const place = { cwd: workspace, homeDir: box.path('home'), closed, path }
  const analysis = await analyzeLine(command, place)
  const at = makePolicyContext({ workspace, homeDir: place.homeDir, ...more })
  return decide({ kind: 'bash', command, ...analysis }, at).effect
}

function quoted(path: string): string {
  return `'${path}'`
}

/** Creates a repository with two commits, and files around it that must not be read. */
async function makeProject(): Promise<Tree> {
  const tree = await makeTree({
    secret: 'secret',
    'home/.ssh/id_rsa': 'key',
    'bare/HEAD': 'ref: refs/heads/main',
    'project/README.md': 'one\ntwo\nthree\n',
    'project/with space.txt': 'x',
    'project/.env': 'SECRET=1\n',
    'project/data.csv': 'a,1\nb,2\n',
    'project/data.json': '{"name":"a","items":[{"n":2}]}',
    'project/src/a.ts': 'one\ntwo\n',
    'project/src/b.ts': 'one\nthree\n',
    'project/docs/guide.md': 'guide\n',
    'project/bin/tree': '#!/bin/sh\n',
    'project/node_modules/.bin/rev': '#!/bin/sh\n',
    'project/.gitignore': 'closed\nlink-to-closed\n',
    'project/inside-link': '-> README.md',
    'project/inside-link-to-env': '-> .env',
    'project/inside-folder-link': '-> src',
    'project/outside-link': '-> /etc/passwd',
    'project/outside-folder': '-> /etc',
  })
  const git = (...args: string[]) => run('git', args, { cwd: tree.path('project') })
  await git('init', '-q', '-b', 'main')
  await git('config', 'user.name', 'Ann')
  await git('config', 'user.email', 'ann@localhost')
  await git('remote', 'add', 'origin', 'http://localhost/x.git')
  await git('add', '.')
  await git('commit', '-qm', 'one')
  await writeFile(tree.path('project/README.md'), 'one\nTWO\n')
  await git('commit', '-qam', 'two')
  await git('tag', 'v0')
  await writeFile(tree.path('project/src/a.ts'), 'one\n2\n')
  await writeFile(tree.path('project/closed'), 'closed')
  await link(tree.path('project/closed'), tree.path('project/link-to-closed'))
  return tree
}

/** Returns every file below a folder with its kind, contents and modification time. */
async function snapshot(root: string): Promise<Map<string, string>> {
  const entries = await readdir(root, { recursive: true })
  const rows = entries.map(async (name): Promise<[string, string]> => {
    const path = join(root, name)
    const { mode, mtimeMs } = await lstat(path)
    const kind = mode & 0o170_000
    const content = kind === 0o120_000 ? await readlink(path) : kind === 0o100_000 ? await digest(path) : ''
    return [name, `${mode} ${mtimeMs} ${content}`]
  })
  return new Map(await Promise.all(rows))
}

async function digest(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}
