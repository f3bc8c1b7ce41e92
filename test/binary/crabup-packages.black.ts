import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  componentFiles,
  openRegistry,
  type Publication,
  type Registry,
  writeTree,
} from '../support/registry.ts'
import { type Finished, makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { until } from '../support/until.ts'

let registry: Registry
let box: Sandbox
/** The tarball of a version that does not start. */
let failing: string

before(async () => {
  registry = await openRegistry()
  box = await makeSandbox()
  const [works, fails] = [componentFiles('crab-echo'), componentFiles('crab-echo', { fails: true })]
  const [bad] = await registry.publish(echo('2.0.0', fails), echo('1.0.0', works), echo('1.1.0', works))
  failing = bad!.tarball
})
after(async () => {
  await crabup('rm', 'crab-echo') // cleans up after a failed test
  await registry[Symbol.asyncDispose]()
  await box[Symbol.asyncDispose]()
})

function echo(version: string, files: Readonly<Record<string, string>>): Publication {
  const manifest = { name: 'crab-echo', type: 'module', description: 'Says it again', bin: 'main.mjs' }
  return { manifest: { ...manifest, version }, files }
}

function crabup(...args: string[]): Promise<Finished> {
  return box.run(args, { program: 'crabup', env: environment() })
}

function environment(): Record<string, string> {
  return { ...registry.env, CRABTALK_SERVICE_MANAGER: 'supervisor' }
}

function versions(): string[] {
  return readdirSync(join(box.home, 'packages/crab-echo')).toSorted()
}

async function runningVersion(): Promise<string> {
  const port = readFileSync(join(box.home, 'run/crab-echo.port'), 'utf8')
  const answer = (await (await fetch(`http://127.0.0.1:${port}/health`)).json()) as { version: string }
  return answer.version
}

test('crabup pull shows a package and asks; without a terminal it requires --yes', async () => {
  const refused = await crabup('pull', failing)
  assert.equal(refused.code, 4)
  assert.match(
    refused.stdout,
    /^crab-echo 2\.0\.0: Says it again\n {2}from {9}\/.*\n {2}size {9}[\d.]+ k?B\n {2}needs {8}no other packages\n$/,
  )
  assert.match(
    refused.stderr,
    /there is no terminal to ask for confirmation\n.*--yes to install it without asking/s,
  )
  assert.deepEqual(readdirSync(join(box.home, 'packages/.staging')), [])
  const terminal = box.terminal(['pull', 'crab-echo', '--version', '1.0.0'], {
    program: 'crabup',
    env: environment(),
    columns: 120,
  })
  await terminal.shows(/by {11}ada <ada@example.com>/)
  await terminal.shows(/Install crab-echo 1\.0\.0\? \[y\/N\]/)
  terminal.type('y\r')
  await terminal.shows(/installed crab-echo 1\.0\.0; crabup crab-echo start runs it/)
  assert.equal((await terminal.finished).code, 0)
})

test('crabup update restarts a service with the new version and rolls back one that does not start', async () => {
  const started = await crabup('crab-echo', 'start')
  assert.equal(started.code, 0, started.stderr)
  assert.equal(await runningVersion(), '1.0.0')
  const updated = await crabup('update')
  assert.equal(updated.code, 0, updated.stderr)
  assert.match(updated.stdout, /^crab-echo: 1\.0\.0 → 1\.1\.0$/m)
  assert.match(updated.stdout, /^installed crab-echo 1\.1\.0 \(was 1\.0\.0\); the service now runs it$/m)
  assert.equal(await runningVersion(), '1.1.0')
  const failed = await crabup('pull', failing, '--yes')
  assert.equal(failed.code, 69)
  assert.match(
    failed.stderr,
    /this version cannot start\n.*Cannot change crab-echo to 2\.0\.0: .*; 1\.1\.0 runs again$/ms,
  )
  assert.equal(await runningVersion(), '1.1.0')
  assert.deepEqual(versions(), ['1.1.0', 'current'])
})

test('crabup update does not retry a version that did not start', async () => {
  await registry.publish(echo('2.1.0', componentFiles('crab-echo', { fails: true })))
  assert.equal((await crabup('update')).code, 69)
  const again = await crabup('update')
  assert.deepEqual([again.code, again.stdout], [0, ''])
  assert.match(
    again.stderr,
    /^crabup: crab-echo: 2\.1\.0 was tried on 20\d\d-\d\d-\d\d and is not tried again: it was started, but /,
  )
  assert.match(again.stderr, /\nhint: crabup pull crab-echo --version 2\.1\.0 tries it again\n$/)
  assert.equal(await runningVersion(), '1.1.0')
})

test('the next crabup rolls back an update that was killed half-way, and prints only its own output', async () => {
  const hangs = `#!/usr/bin/env node
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
writeFileSync(join(process.env.CRABTALK_HOME, 'tried'), '')
setInterval(() => {}, 1000)
`
  await registry.publish(echo('2.2.0', { 'main.mjs': hangs }))
  const killed = box.start(['pull', 'crab-echo'], { program: 'crabup', env: environment() })
  await until('it is tried', () => existsSync(join(box.home, 'tried')))
  const meanwhile = await crabup('list', '--json') // the process that tries the update is still alive
  assert.equal(meanwhile.stderr, '')
  process.kill(killed.child.pid!, 'SIGKILL')
  await killed.finished
  assert.deepEqual(versions(), ['1.1.0', '2.2.0', 'current', 'failed.json', 'pending.json'])
  const seen = await crabup('ps', '--json')
  assert.equal(
    seen.stderr,
    'crabup: the change of crab-echo to 2.2.0 was interrupted; 1.1.0 is current again and running\n',
  )
  const { services } = JSON.parse(seen.stdout) as {
    services: { name: string; state: string; version: string }[]
  }
  const row = services.find(({ name }) => name === 'crab-echo')
  assert.deepEqual([row?.state, row?.version], ['ready', '1.1.0'])
  assert.deepEqual(versions(), ['1.1.0', 'current', 'failed.json'])
  assert.equal(await runningVersion(), '1.1.0')
})

test('crabup pull that is killed keeps the old version and leaves no files for the next one', async () => {
  const held = registry.hold(true)
  const killed = box.start(['pull', 'crab-echo@1.0.0', '--yes'], { program: 'crabup', env: environment() })
  await Promise.race([held, killed.finished])
  process.kill(killed.child.pid!, 'SIGKILL')
  await killed.finished
  await registry.hold(false)
  assert.equal(await runningVersion(), '1.1.0')
  const listed = await crabup('list', '--json')
  const rows: { name: string; version: string; built_in: boolean }[] = JSON.parse(listed.stdout)
  assert.deepEqual(
    rows.filter((row) => !row.built_in).map(({ name, version }) => [name, version]),
    [['crab-echo', '1.1.0']],
  )
  const same = await crabup('pull', 'crab-echo@1.1.0')
  assert.equal(same.stdout, 'crab-echo 1.1.0 is already installed\n')
  assert.deepEqual(readdirSync(join(box.home, 'packages/.staging')), [])
})

test('Ctrl-C ends crabup pull and leaves no files', async () => {
  const held = registry.hold(true)
  const terminal = box.terminal(['pull', 'crab-echo@1.0.0'], { program: 'crabup', env: environment() })
  await Promise.race([held, terminal.finished])
  await terminal.shows(/Fetching crab-echo 1\.0\.0 …/)
  terminal.type('\u0003')
  assert.equal((await terminal.finished).signal, constants.signals.SIGINT) // the process ends by the signal itself, as shells expect
  await registry.hold(false)
  assert.deepEqual(readdirSync(join(box.home, 'packages/.staging')), [])
  assert.deepEqual(versions(), ['1.1.0', 'current', 'failed.json'])
})

test('crabup rm ends the service and removes the package; a built-in service is reported as built in', async () => {
  const removed = await crabup('rm', 'crab-echo')
  assert.equal(removed.code, 0, removed.stderr)
  assert.match(removed.stdout, /^removed crab-echo( and its logs \(\d.*\))?\n$/)
  const logs = readdirSync(join(box.home, 'logs')).filter((name) => name.startsWith('crab-echo.'))
  assert.deepEqual(logs, [])
  assert.deepEqual(readdirSync(join(box.home, 'packages')), ['.staging'])
  await until('the supervisor has ended', async () => (await box.processesLeft()).length === 0)
  const builtIn = await crabup('pull', 'cron')
  assert.deepEqual([builtIn.code, builtIn.stdout], [0, 'cron is built in; crabup self update updates it\n'])
  assert.equal((await crabup('rm', 'crab-echo')).code, 1)
})

test('crabup pkg shows what it would install, installs it, and keeps modified files', async () => {
  const kit = join(box.cwd, 'kit')
  await writeTree(kit, {
    'crabtalk.toml': `name = "kit"\nversion = "1.2.0"\nskills = ["review"]\nagents = ["reviewer.toml"]\n`,
    'review/SKILL.md':
      '---\nname: review\ndescription: Reviews a diff\nallowed-tools: bash(git *)\n---\nDo it\n',
    'reviewer.toml': '[[mcps]]\nname = "fs"\ncommand = "npx"\nargs = ["-y", "a b"]\n',
  })
  const refused = await crabup('pkg', 'add', './kit')
  assert.equal(refused.code, 4)
  assert.equal(
    refused.stdout,
    `kit 1.2.0
  from         ${kit}
  skill review: Reviews a diff
    tools      bash(git *)
    file       skills/review/SKILL.md, 82 B
  agent reviewer
    runs       npx -y "a b" (MCP server fs)
    file       agents/reviewer.toml, 58 B
`,
  )
  assert.deepEqual(existsSync(join(box.home, 'skills')), false)
  const added = await crabup('pkg', 'add', './kit', '--yes')
  assert.deepEqual(
    [added.code, added.stdout.split('\n').at(-2)],
    [0, 'added kit 1.2.0: skills/review, agents/reviewer'],
  )
  assert.match((await box.run(['agent', 'list'])).stdout, /^reviewer /m)
  const again = await crabup('pkg', 'add', './kit') // no confirmation is needed to report this
  assert.deepEqual([again.code, /version 1\.2\.0 is already installed/.test(again.stderr)], [1, true])
  appendFileSync(join(box.home, 'agents/reviewer.toml'), '# mine\n')
  const removed = await crabup('pkg', 'remove', 'kit')
  assert.equal(removed.stdout, 'removed kit: skills/review\n')
  assert.equal(
    removed.stderr,
    'crabup: kept agents/reviewer: reviewer.toml, changed since it was installed\n',
  )
  assert.equal((await crabup('pkg', 'list', '--json')).stdout, '[]\n')
})
