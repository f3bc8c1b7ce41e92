import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { appendFile, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { toUpHost } from '../../../src/up/host.ts'
import { openStaging } from '../../../src/up/packages/component-folder.ts'
import { type FetchedPkg, fetchPkg } from '../../../src/up/pkg/fetch-pkg.ts'
import { installPkg, type PkgPorts } from '../../../src/up/pkg/install.ts'
import { readRecords } from '../../../src/up/pkg/records.ts'
import { removePkg } from '../../../src/up/pkg/remove.ts'
import { agentStore } from '../../support/agent-store.ts'
import { type GitServer, openGitServer } from '../../support/git-server.ts'
import { openRegistry, type Registry, writeTree } from '../../support/registry.ts'
import { type TemporaryHome, temporaryHome } from '../../support/temporary-home.ts'

const { signal } = new AbortController()
const leases = new MemoryLeases()
const KIT = {
  'crabtalk.toml': `name = "kit"
version = "1.2.0"
description = "Reviews of changes"
skills = ["skills/review/"]
agents = ["./agents/reviewer.toml"]
`,
  'skills/review/SKILL.md':
    '---\nname: review\ndescription: Reviews a diff\nallowed-tools:\n  - bash\n  - read\n---\nDo it\n',
  'skills/review/scripts/run.sh': '#!/bin/sh\ntouch ran\n',
  'agents/reviewer.toml': `# of the kit
description = "Looks at changes"
id = "01J00000000000000000000000"

[permissions]
allow = ["bash(git *)"]

[[mcps]]
name = "fs"
command = "npx"
args = ["-y", "files"]
env = { TOKEN = "\${TOKEN}" }
`,
  'agents/reviewer.md': 'You review.\n',
  'README.md': 'not installed',
}
let server: GitServer
let registry: Registry

before(async () => {
  ;[server, registry] = await Promise.all([openGitServer(), openRegistry()])
})
after(() => Promise.all([server[Symbol.asyncDispose](), registry[Symbol.asyncDispose]()]))

interface PkgHome extends AsyncDisposable {
  home: TemporaryHome
  ports: PkgPorts
  /** Fetches the package that the argument names. */
  bring(word: string): ReturnType<typeof fetchPkg>
  /** Writes the folder of a package and returns its path. */
  kit(files?: Readonly<Record<string, string>>): Promise<string>
}

async function open(): Promise<PkgHome> {
  const home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  const staging = await openStaging(home.paths, process.pid)
  const env = { PATH: process.env['PATH'], HOME: home.paths.home }
  const host = toUpHost({ env, pid: process.pid, uid: 0, homeDir: home.paths.home })
  const ports = {
    paths: home.paths,
    now: () => Date.now(),
    lock: leases.take.bind(leases),
    folder: staging.path,
  }
  let count = 0
  return {
    home,
    ports,
    bring: (word) => {
      const caller = { cwd: home.paths.home, homeDir: home.paths.home }
      const npm = () => Promise.reject(new Error('no npm in this test'))
      return fetchPkg(word, { host, npm, folder: staging.path, caller, step: () => {} }, signal)
    },
    async kit(files = KIT) {
      count += 1
      const folder = join(home.paths.home, `kit${count}`)
      await writeTree(folder, files)
      return folder
    },
    async [Symbol.asyncDispose]() {
      await staging[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

function readMode(path: string): number {
  return statSync(path).mode & 0o777
}

function executables({ contents }: FetchedPkg): string[] {
  return contents.skills
    .flatMap(({ files }) => files.filter((file) => file.isExecutable))
    .map(({ path }) => path)
}

test('installPkg() copies skills and agents, each agent with an id of its own', async () => {
  await using at = await open()
  const brought = await at.bring(await at.kit())
  const [agent] = brought.contents.agents
  const [skill] = brought.contents.skills
  assert.equal(skill?.allowedTools, 'bash, read')
  assert.deepEqual(
    agent?.servers.map(({ command, args }) => [command, args]),
    [['npx', ['-y', 'files']]],
  )
  assert.deepEqual(
    agent?.rules.map(({ effect, pattern }) => [effect, pattern]),
    [['allow', 'bash(git *)']],
  )
  assert.deepEqual(agent?.placeholders, [`fs: env.TOKEN, which is $\{TOKEN}`])
  await installPkg(brought, at.ports, signal)
  assert.deepEqual(readdirSync(at.home.paths.skills, { recursive: true }).toSorted(), [
    'review',
    'review/SKILL.md',
    'review/scripts',
    'review/scripts/run.sh',
  ])
  const modes = ['SKILL.md', 'scripts/run.sh'].map((name) =>
    readMode(join(at.home.paths.skills, 'review', name)),
  )
  assert.deepEqual(modes, [0o600, 0o700]) // a skill may run its own scripts
  const stored = await agentStore(at.home.paths).get('reviewer')
  assert.notEqual(stored.id, '01J00000000000000000000000')
  assert.equal(stored.prompt, 'You review.')
  assert.match(await at.home.read('agents/reviewer.toml'), /^# of the kit\n/)
  const { records } = await readRecords(at.home.paths)
  assert.deepEqual([records[0]?.skills, records[0]?.agents], [['review'], ['reviewer']])
  const removed = await removePkg('kit', at.ports, signal)
  assert.deepEqual(removed.removed, ['skills/review', 'agents/reviewer'])
  assert.deepEqual([readdirSync(at.home.paths.skills), readdirSync(at.home.paths.agents)], [[], []])
})

test('removePkg() keeps what the user changed or added, and says so', async () => {
  await using at = await open()
  await installPkg(await at.bring(await at.kit()), at.ports, signal)
  await appendFile(join(at.home.paths.agents, 'reviewer.md'), 'And be kind.\n')
  await writeFile(join(at.home.paths.skills, 'review/notes.md'), 'mine')
  const { retained, removed } = await removePkg('kit', at.ports, signal)
  assert.deepEqual(retained, ['skills/review: notes.md', 'agents/reviewer: reviewer.md'])
  assert.deepEqual(removed, [])
  assert.ok(existsSync(join(at.home.paths.agents, 'reviewer.toml')))
  assert.deepEqual((await readRecords(at.home.paths)).records, [])
})

test('removePkg() removes what an interrupted installation has left', async () => {
  await using at = await open()
  await installPkg(await at.bring(await at.kit()), at.ports, signal)
  await rm(join(at.home.paths.agents, 'reviewer.toml'))
  const { removed } = await removePkg('kit', at.ports, signal)
  assert.deepEqual(removed, ['skills/review', 'agents/reviewer'])
  assert.deepEqual(readdirSync(at.home.paths.agents), [])
  await assert.rejects(removePkg('kit', at.ports, signal), { kind: 'missing' })
})

test('installPkg() installs nothing when a name is taken, and lists all taken names', async () => {
  await using at = await open()
  await at.home.write('agents/Reviewer.toml', '')
  await at.home.write('skills/other/SKILL.md', '---\nname: review\ndescription: mine\n---\n')
  const brought = await at.bring(await at.kit())
  await assert.rejects(installPkg(brought, at.ports, signal), {
    kind: 'conflict',
    message: 'Cannot add kit: you already have the skill review, the agent reviewer',
  })
  assert.deepEqual(await readdir(at.home.paths.skills), ['other'])
  assert.deepEqual((await readRecords(at.home.paths)).records, [])
  await rm(join(at.home.paths.agents, 'Reviewer.toml'))
  await rm(join(at.home.paths.skills, 'other'), { recursive: true })
  await installPkg(brought, at.ports, signal)
  await assert.rejects(installPkg(brought, at.ports, signal), {
    kind: 'conflict',
    message: 'Cannot add kit: version 1.2.0 is already installed',
  })
})

test('fetchPkg() fetches a commit with git, and runs nothing from the repository', async () => {
  await using at = await open()
  const url = await server.publish('kit', {
    ...KIT,
    '.gitattributes': '*.md filter=evil\n',
    '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ran"\n',
  })
  await at.home.write('.gitconfig', '[core]\n\thooksPath = hooks\n[filter "evil"]\n\tsmudge = touch ran\n')
  const brought = await at.bring(`${url}#main`)
  assert.match(brought.source.commit ?? '', /^[0-9a-f]{40}$/)
  assert.equal(brought.contents.skills[0]?.files.length, 2)
  assert.deepEqual(executables(brought), ['scripts/run.sh'])
  await installPkg(brought, at.ports, signal)
  assert.ok(
    !readdirSync(at.home.paths.home, { recursive: true }).some((path) => String(path).endsWith('ran')),
  )
})

test('fetchPkg() fails on an address without a repository, and does not prompt', async () => {
  await using at = await open()
  const url = await server.publish('empty', { a: '' })
  await assert.rejects(at.bring(`${url}#nowhere`), {
    kind: 'unavailable',
    message: /couldn't find remote ref nowhere/,
  })
  await assert.rejects(at.bring(url.replace('empty', 'none')), { kind: 'unavailable' })
  for (const word of [
    'file://host/x.git',
    'ext::sh -c id',
    'http://example.com/x.git',
    'ssh://-oProxyCommand=id/x',
  ]) {
    await assert.rejects(at.bring(word), { kind: 'usage' }, word)
  }
})

test('fetchPkg() fetches a commit of a local repository, by its URL and by a path', async () => {
  await using at = await open()
  const folder = join(at.home.paths.home, 'my kit')
  await writeTree(folder, KIT)
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', folder, ...args])
  await git('init', '--quiet', '--initial-branch=main')
  await git('add', '--all')
  await git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '--quiet', '-m', 'one')
  await git('tag', 'v1')
  await git('clone', '--quiet', '--bare', folder, `${folder}.git`)
  await writeFile(join(folder, 'crabtalk.toml'), 'not committed')
  const { href } = pathToFileURL(folder)
  for (const word of [
    href,
    `${href}#v1`,
    `file://${folder}`,
    './my kit#v1',
    './my kit.git',
    './my kit.git#main',
  ]) {
    const { source, contents } = await at.bring(word)
    assert.equal(contents.manifest.version, '1.2.0', word)
    assert.match(source.commit ?? '', /^[0-9a-f]{40}$/)
    assert.ok(source.from.startsWith('file:///'), source.from)
  }
  await assert.rejects(at.bring(`${href}#v2`), { kind: 'unavailable' })
  await assert.rejects(at.bring('./my kit'), { kind: 'config' })
})

test('fetchPkg() accepts a tarball that npm packed', async () => {
  await using at = await open()
  const files = Object.fromEntries(Object.entries(KIT))
  const [packed] = await registry.publish({ manifest: { name: 'crab-kit', version: '1.2.0' }, files })
  const brought = await at.bring(packed!.tarball)
  assert.equal(brought.source.kind, 'tarball')
  assert.equal(brought.contents.agents[0]?.name, 'reviewer')
  assert.deepEqual(executables(brought), ['scripts/run.sh'])
})

const HOSTILE: [string, Record<string, string>, RegExp][] = [
  [
    'a path outside',
    { 'crabtalk.toml': manifest('skills = ["../../etc"]') },
    /crabtalk\.toml:3: .*must be a path in this package/,
  ],
  [
    'an absolute path',
    { 'crabtalk.toml': manifest('agents = ["/etc/agent.toml"]') },
    /must be a path in this package/,
  ],
  [
    'a name with an escape',
    { 'crabtalk.toml': manifest('skills = ["skills/\\u001b[2J"]') },
    /must be a path in this package/,
  ],
  [
    'an invalid agent name',
    { 'crabtalk.toml': manifest('agents = ["agents/a b.toml"]') },
    /must be NAME\.toml/,
  ],
  [
    'an unknown key',
    { 'crabtalk.toml': manifest('skill = ["a"]\nskills = ["a"]') },
    /crabtalk\.toml:3: unknown key "skill"/,
  ],
  ['nothing', { 'crabtalk.toml': manifest('') }, /it has neither "skills" nor "agents"/],
  [
    'two of one name',
    { 'crabtalk.toml': manifest('skills = ["a/x", "b/X"]') },
    /two of its skills or agents are named x/,
  ],
  ['no version', { 'crabtalk.toml': 'name = "kit"\nskills = ["a"]' }, /"version"/],
  ['a skill that is missing', { 'crabtalk.toml': manifest('skills = ["a"]') }, /it has no a\/SKILL\.md/],
  [
    'a skill without a name',
    { 'crabtalk.toml': manifest('skills = ["a"]'), 'a/SKILL.md': '---\ndescription: x\n---\n' },
    /it has no "name"/,
  ],
  [
    'an agent file with invalid contents',
    { 'crabtalk.toml': manifest('agents = ["a.toml"]'), 'a.toml': '\nthinking = "loudly"' },
    /a\.toml:2: "thinking" must be true or false/,
  ],
]
for (const [what, files, message] of HOSTILE) {
  test(`fetchPkg() rejects ${what}`, async () => {
    await using at = await open()
    await assert.rejects(at.bring(await at.kit(files)), { message })
  })
}

test('fetchPkg() rejects links in what it installs, and huge files', async () => {
  await using at = await open()
  const linked = await at.kit()
  await symlink('/etc/passwd', join(linked, 'skills/review/notes.md'))
  await symlink('/etc/passwd', join(linked, 'elsewhere'))
  await assert.rejects(at.bring(linked), {
    message: 'Cannot use this package: skills/review/notes.md is a link',
  })
  await rm(join(linked, 'skills/review/notes.md'))
  await at.bring(linked)
  const url = await server.publish('linked', KIT, async (folder) => {
    await symlink('/etc/passwd', join(folder, 'skills/review/notes.md'))
  })
  await assert.rejects(at.bring(url), {
    message: 'Cannot use this package: skills/review/notes.md is a link',
  })
  await writeFile(join(linked, 'skills/review/big'), Buffer.alloc(5 * 2 ** 20))
  await assert.rejects(at.bring(linked), { message: /skills\/review\/big: it has more than 4194304 bytes/ })
  assert.equal(readFileSync(join(linked, 'README.md'), 'utf8'), 'not installed')
})

function manifest(rest: string): string {
  return `name = "kit"\nversion = "1.0.0"\n${rest}\n`
}
