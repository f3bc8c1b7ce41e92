import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, chmod, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { bashHook } from '../../../../src/core/hooks/bash/bash-hook.ts'
import { hardenedEnv } from '../../../../src/core/hooks/bash/environment.ts'
import { openProcessHost } from '../../../../src/core/process/process-host.ts'
import { AGENT } from '../../../support/agents.ts'
import { runTool } from '../../../support/tool-run.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'

const run = promisify(execFile)
const processes = openProcessHost({ pid: process.pid })
after(() => processes[Symbol.asyncDispose]())
const hook = bashHook({ processes, homeDir: '', closed: [] })
const PATH = process.env['PATH'] ?? ''

test('git opens no file outside of the repository that its index names', async () => {
  await using tree = await makeRepository({ secret: 'TOP', 'ws/aaaaaaaaa': 'x' })
  assert.equal(await isUnasked(tree, 'git diff'), true)
  await patchIndex(tree, 'aaaaaaaaa', '../secret')
  const { stdout } = await run('git', ['diff'], { cwd: tree.path('ws') })
  assert.match(stdout, /TOP/) // git does this when it runs
  for (const line of ['git diff', 'git status', 'git ls-files -m'])
    assert.equal(await isUnasked(tree, line), false, line)
  assert.equal(await isUnasked(tree, 'git log'), true)
  for (const name of ['/etc/host', 'a/../../b', './aaaaaaa', 'a//aaaaaa', 'C:\\aaaaaa']) {
    await using other = await makeRepository({ 'ws/aaaaaaaaa': 'x' })
    await patchIndex(other, 'aaaaaaaaa', name.padEnd(9, 'a'))
    assert.equal(await isUnasked(other, 'git diff'), false, name)
  }
})

test('an index whose name lengths are wrong is not understood', async () => {
  await using tree = await makeRepository({ 'ws/aaaaaaaaa': 'x', 'ws/b': 'x' })
  await patchIndex(tree, '\0\x09aaaaaaaaa\0', '\0\x50aaaaaaaaa\0')
  assert.equal(await isUnasked(tree, 'git status'), false)
})

test("a git command that would read the user's configuration from the repository asks", async () => {
  const evil = '[diff]\n\texternal = touch ran;\n'
  await using tree = await makeRepository({ 'ws/a': 'x', 'ws/.gitconfig': evil, 'ws/own/git/config': evil })
  await symlink('ws', tree.path('linked'))
  await mkdir(tree.path('home'))
  await writeFile(tree.path('ws/a'), 'y')
  const [home, inside] = [
    { PATH, HOME: tree.path('home') },
    { PATH, HOME: tree.path('ws') },
  ]
  const { stdout } = await run('bash', ['-c', 'git diff; ls'], { cwd: tree.path('ws'), env: inside })
  assert.match(stdout, /^ran$/m) // git does this when it runs
  for (const env of [
    inside,
    { PATH, HOME: tree.path('linked') },
    { ...home, XDG_CONFIG_HOME: tree.path('ws/own') },
  ])
    for (const line of ['git diff', 'git log']) assert.equal(await isUnasked(tree, line, env), false, line)
  assert.equal(await isUnasked(tree, 'git diff', home), true)
  await rm(tree.path('ws/.gitconfig'))
  assert.equal(await isUnasked(tree, 'git diff', inside), true)
})

test('git starts no program from a folder of the working directory in PATH', async () => {
  await using tree = await makeRepository({
    'ws/a': 'x',
    'home/.gitconfig': '[filter "x"]\n\tclean = clean-x\n',
  })
  await writeFile(tree.path('ws/.gitattributes'), '* filter=x\n')
  await mkdir(tree.path('ws/node_modules/.bin'), { recursive: true })
  await writeFile(tree.path('ws/node_modules/.bin/clean-x'), '#!/bin/sh\ntouch ran\ncat\n')
  await chmod(tree.path('ws/node_modules/.bin/clean-x'), 0o755)
  await symlink('ws/node_modules/.bin', tree.path('linked'))
  await writeFile(tree.path('ws/a'), 'y')
  for (const folder of ['ws/node_modules/.bin', 'linked']) {
    const env = { PATH: `${tree.path(folder)}:${PATH}`, HOME: tree.path('home') }
    assert.equal(await isUnasked(tree, 'git diff', env), true)
    await say(tree, 'git diff', env)
    assert.doesNotMatch(await say(tree, 'ls'), /ran/)
  }
  const { stdout } = await run('bash', ['-c', 'git diff; ls ran'], {
    cwd: tree.path('ws'),
    env: { PATH: `${tree.path('linked')}:${PATH}`, HOME: tree.path('home') },
  })
  assert.match(stdout, /^ran$/m) // with the whole PATH it does
})

test('no program runs that starts one named by a file of the project', async () => {
  await using tree = await makeRepository({
    'ws/a': 'x',
    'ws/.tool-versions': 'jq path:./evil',
    'mise/mise': '#!/bin/sh\n',
  })
  await mkdir(tree.path('data/shims'), { recursive: true })
  await writeFile(tree.path('data/shims/jq'), '#!/bin/sh\n', { mode: 0o755 })
  await mkdir(tree.path('bin'))
  await symlink('../mise/mise', tree.path('bin/rg'))
  await symlink('data/shims', tree.path('linked'))
  for (const [folder, line] of [
    ['data/shims', 'jq . a'],
    ['linked', 'jq . a'],
    ['bin', 'rg x'],
  ] as const) {
    assert.equal(await isUnasked(tree, line, { PATH: `${tree.path(folder)}:${PATH}` }), false, folder)
    assert.equal(await isUnasked(tree, 'cat a', { PATH: `${tree.path(folder)}:${PATH}` }), true, folder)
  }
  assert.equal(await isUnasked(tree, 'ls', { PATH: `${PATH}:${tree.path('data/shims')}` }), true)
  const env = { PATH: `${tree.path('tools')}:${tree.path('data/shims')}:${tree.path('linked')}` }
  await mkdir(tree.path('tools'))
  await symlink('/bin/bash', tree.path('tools/bash'))
  await writeFile(tree.path('tools/git'), '#!/bin/bash\necho "$PATH"\n', { mode: 0o755 })
  assert.equal(await say(tree, 'git status', env), tree.path('tools')) // a filter of git may be a shim as well
})

test('git does not search above the repository that was checked', async () => {
  await using tree = await makeRepository({
    'ws/a': 'x',
    'tools/git': '#!/bin/sh\necho "$GIT_CEILING_DIRECTORIES"\n',
  })
  await chmod(tree.path('tools/git'), 0o755)
  const env = { PATH: `${tree.path('tools')}:${PATH}` }
  assert.equal(await say(tree, 'git status', env), tree.root)
})

test('git asks where a colon in the path would prevent it from stopping at the repository', async () => {
  await using tree = await makeTree({ 'ws/a:b/c/x': 'x' })
  const isPlain = async (name: string) => {
    await run('git', ['init', '-q'], { cwd: tree.path(name) })
    const action = await hook.describe?.('bash', {
      args: { command: 'git status' },
      agent: AGENT,
      cwd: tree.path(name),
      env: { PATH },
    })
    return action?.kind === 'bash' && action.readOnly?.every(Boolean) === true
  }
  assert.deepEqual([await isPlain('ws/a:b'), await isPlain('ws/a:b/c')], [true, false])
})

test('git asks where a repository configures the order of tags and branches', async () => {
  await using tree = await makeRepository({ 'ws/a': 'x' })
  const config = await readFile(tree.path('ws/.git/config'), 'utf8')
  const isPlain = async (text: string) => {
    await writeFile(tree.path('ws/.git/config'), config + text)
    return await isUnasked(tree, 'git tag; git branch')
  }
  assert.equal(await isPlain('[tag]\n\tsort = -signature\n'), false)
  assert.equal(await isPlain('[branch]\n\tsort = -signature\n'), false)
  const usual =
    '[branch]\n\tautoSetupRebase = always\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n'
  assert.equal(await isPlain(`${usual}\tvscode-merge-base = origin/main\n[tag]\n\tgpgSign = true\n`), true)
})

test('a line that runs without asking finds no programs of the working directory, but may search for them', async () => {
  await using tree = await makeTree({
    'ws/a': 'x',
    'ws/bin/own': '#!/bin/sh\n',
    'tools/rev': '#!/bin/sh\necho "$PATH"\n',
  })
  await chmod(tree.path('tools/rev'), 0o755)
  await chmod(tree.path('ws/bin/own'), 0o755)
  const env = { PATH: `${tree.path('ws/bin')}:${tree.path('tools')}:/usr/bin:/bin` }
  assert.equal(await say(tree, 'rev a', env), `${tree.path('tools')}:/usr/bin:/bin`)
  assert.equal(await say(tree, 'type -P own; echo', env), tree.path('ws/bin/own'))
})

test('git does not use a bare repository that was created after the line was judged', async () => {
  await using tree = await makeRepository({ 'ws/a': 'x', 'ws/sub/b': 'x' })
  const env = { PATH, HOME: tree.path('home') }
  await writeFile(
    tree.path('ws/sub/config'),
    `[core]\n\tbare = true\n[diff "x"]\n\ttextconv = touch ran; cat\n`,
  )
  await cp(tree.path('ws/.git/objects'), tree.path('ws/sub/objects'), { recursive: true })
  await cp(tree.path('ws/.git/refs'), tree.path('ws/sub/refs'), { recursive: true })
  await mkdir(tree.path('ws/sub/info'))
  await writeFile(tree.path('ws/sub/info/attributes'), '* diff=x\n')
  assert.equal(await isUnasked(tree, 'cd sub; git log -p', env), true)
  await writeFile(tree.path('ws/sub/HEAD'), 'ref: refs/heads/main\n')
  assert.equal(await isUnasked(tree, 'cd sub; git log -p', env), false)
  const running = run('git', ['log', '-p'], { cwd: tree.path('ws/sub'), env: hardenedEnv(env) })
  await assert.rejects(running, /cannot use bare repository/)
  await run('git', ['log', '-p'], { cwd: tree.path('ws/sub'), env })
  await access(tree.path('ws/sub/ran')) // without these settings it starts the program
})

test('a git that cannot refuse bare repositories runs without asking only at the top of a repository', async () => {
  await using tree = await makeRepository({ 'ws/a': 'x', 'ws/sub/b': 'x' })
  await mkdir(tree.path('tools'))
  const env = { PATH: `${tree.path('tools')}:${PATH}` }
  for (const [version, isNew] of [
    ['git version 2.34.1', false],
    ['git version 1.99', false],
    ['git 3', false],
    ['git version 2.38.0', true],
    ['git version 2.39.5 (Apple Git-154)', true],
    ['git version 3.0.0', true],
  ] as const) {
    await writeFile(tree.path('tools/git'), `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 })
    assert.equal(await isUnasked(tree, 'cd sub; git log', env), isNew, version)
    assert.equal(await isUnasked(tree, 'git log', env), true, version)
  }
})

test('rg prints no lines of a file that an ignore file refers to', async () => {
  await using tree = await makeTree({ 'ws/a': 'x', 'tools/rg': '#!/bin/sh\ncat "$RIPGREP_CONFIG_PATH"\n' })
  await chmod(tree.path('tools/rg'), 0o755)
  const env = { PATH: `${tree.path('tools')}:${PATH}`, RIPGREP_CONFIG_PATH: tree.path('ws/a') }
  assert.equal(await say(tree, 'rg x', env), '--no-ignore-messages')
  await writeFile(tree.path('spill/ripgreprc'), '--pre=./evil\n') // by any process with write access
  assert.equal(await say(tree, 'rg x', env), '--no-ignore-messages')
  await rm(tree.path('spill/ripgreprc'))
  await symlink('../ws/a', tree.path('spill/ripgreprc'))
  assert.equal(await say(tree, 'rg x', env), '--no-ignore-messages')
  assert.equal(await readFile(tree.path('ws/a'), 'utf8'), 'x')
  assert.equal(await isUnasked(tree, 'rg --no-config x', env), false)
})

test('a line that runs without asking has limited memory and a minimal environment', async () => {
  await using tree = await makeTree({ 'ws/a': 'x' })
  const secrets = { ANTHROPIC_API_KEY: 'sk', AWS_PROFILE: 'x', npm_config_x: 'x', SSH_CLIENT: '1 2 3' }
  const loaders = {
    LD_LIBRARY_PATH: ':/opt',
    LD_PRELOAD: './x.so',
    DYLD_INSERT_LIBRARIES: 'x',
    GCONV_PATH: '.',
    MAGIC: 'm',
  }
  const locales = { LC_ALL: 'zh_CN.GBK', LC_CTYPE: 'ja_JP.SJIS', LC_TIME: 'de_DE', TMPDIR: 'tmp', HOME: '.' }
  const retained = {
    LANG: 'de_DE.UTF-8',
    LC_NUMERIC: 'C',
    USER: 'ann',
    TZ: 'UTC',
    XDG_CONFIG_HOME: '/home/ann/.config',
  }
  const hardened = hardenedEnv({ PATH, ...secrets, ...loaders, ...locales, ...retained })
  for (const name of Object.keys({ ...secrets, ...loaders, ...locales })) assert.ok(!(name in hardened), name)
  for (const [name, value] of Object.entries(retained)) assert.equal(hardened[name], value, name)
  assert.match(await say(tree, "jq -n '.[200000000] = 1 | length'"), /^!/)
  assert.equal(await say(tree, 'jq -n \'"x" * 3 | length\''), '3')
  assert.equal(await isUnasked(tree, Array(32).fill('ls').join('&')), true)
  assert.equal(await isUnasked(tree, Array(33).fill('ls').join('&')), false)
})

async function isUnasked(
  tree: Tree,
  command: string,
  env: Record<string, string> = { PATH },
): Promise<boolean> {
  const action = await hook.describe?.('bash', { args: { command }, agent: AGENT, cwd: tree.path('ws'), env })
  assert.ok(action?.kind === 'bash')
  return action.readOnly?.every(Boolean) ?? false
}

/** Returns the output of a line that runs without asking; a failure begins with `!`. */
async function say(tree: Tree, command: string, env: Record<string, string> = { PATH }): Promise<string> {
  assert.equal(await isUnasked(tree, command, env), true, command)
  const place = { cwd: tree.path('ws'), env, spillDir: tree.path('spill') }
  const { output, isError } = await runTool(hook, ['bash', { command }], place)
  return isError ? `!${output}` : output
}

async function makeRepository(files: Readonly<Record<string, string>>): Promise<Tree> {
  const tree = await makeTree(files)
  const git = (...args: string[]) => run('git', args, { cwd: tree.path('ws') })
  await git('init', '-q', '-b', 'main')
  await git('add', '.')
  await git('-c', 'user.name=Ann', '-c', 'user.email=ann@localhost', 'commit', '-qm', 'one')
  return tree
}

/** Replaces bytes of the index, and updates the hash that git checks. */
async function patchIndex(tree: Tree, from: string, to: string): Promise<void> {
  const path = tree.path('ws/.git/index')
  const text = (await readFile(path)).subarray(0, -20).toString('latin1')
  assert.ok(text.includes(from))
  const bytes = Buffer.from(text.replace(from, to), 'latin1')
  await writeFile(path, Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]))
}
