import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed, writeConfig } from '../support/talk.ts'

const AGENT = `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"

[permissions]
allow = ["bash(git *)", "edit(src/**)"]
deny = ["bash(git push *)"]

[[mcps]]
name = "fs"
command = "no-such-program"
permissions = { allow = ["read_*"] }
`

test('policy why names the deciding rule and its file, all other rules, and what would allow the call', async () => {
  await using box = await makeSandbox()
  await writeAgent(box)
  const { stdout, stderr, code } = await box.run(['policy', 'why', 'bash(git push --force)'])
  assert.deepEqual([stderr, code], ['', 0])
  const lines = stdout.split('\n').map((line) => line.split(/ {2,}/))
  const field = (name: string) => lines.filter(([key]) => key === name).map(([, value]) => value)
  assert.deepEqual(field('effect'), ['deny'])
  assert.deepEqual(field('call'), ['bash: git push --force'])
  assert.deepEqual(field('class'), ['local'])
  assert.deepEqual(field('rule'), ['deny bash(git push *) (agents/crab.toml:5)'])
  assert.deepEqual(field('also'), ['allow bash(git *) (agents/crab.toml:4)'])
  assert.match(field('why')[0] ?? '', /agents\/crab\.toml:5/)
  const answer = await box.run(['policy', 'why', 'bash(npm test && git status)'])
  assert.match(answer.stdout, /^effect +ask$/m)
  assert.match(answer.stdout, /^to allow +bash\(npm test \*\)$/m)
  assert.equal(answer.code, 0)
})

test('policy why --json prints the same for programs', async () => {
  await using box = await makeSandbox()
  await writeAgent(box)
  const why = async (...args: string[]) =>
    JSON.parse((await box.run(['policy', 'why', '--json', ...args])).stdout)
  const allowed = await why('edit(src/a.ts)')
  assert.deepEqual(
    [allowed.effect, allowed.rule, allowed.trust, allowed.suggestions],
    ['allow', { effect: 'allow', pattern: 'edit(src/**)', source: 'agents/crab.toml:4' }, 'local', []],
  )
  assert.equal((await why('mcp__fs__read_file')).effect, 'allow')
  assert.equal((await why('mcp__fs__write_file({"path":"x"})')).effect, 'ask')
  assert.equal((await why('edit(other.ts)')).effect, 'ask')
  assert.equal((await why('edit(other.ts)', '--allow', 'edit')).rule.source, '--allow')
  assert.equal((await why('bash(git log)', '--deny', 'bash')).rule.source, '--deny')
})

test('policy why resolves links from the working directory, or from the given one', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.cwd, 'sub'))
  await symlink('/etc', join(box.cwd, 'sub/link'))
  const why = async (...args: string[]) =>
    JSON.parse((await box.run(['policy', 'why', '--json', ...args])).stdout)
  assert.equal((await why('read(sub/a)')).effect, 'allow')
  const outside = await why('read(sub/link/hostname)')
  assert.deepEqual([outside.effect, outside.action], ['ask', 'read /etc/hostname'])
  assert.equal((await why('read(../a)', '--cwd', 'sub')).effect, 'ask')
})

test('policy why --yolo allows what no rule denies, including what a rule asks about', async () => {
  await using box = await makeSandbox()
  const why = async (...args: string[]) =>
    JSON.parse((await box.run(['policy', 'why', '--json', 'bash(git push)', ...args])).stdout)
  assert.equal((await why()).effect, 'ask')
  assert.equal((await why('--yolo')).effect, 'allow')
  assert.equal((await why('--yolo', '--ask', 'bash(git *)')).effect, 'allow')
  assert.equal((await why('--yolo', '--deny', 'bash(git *)')).effect, 'deny')
})

test('policy why reports mistakes in a rule, an agent or the configuration', async () => {
  await using box = await makeSandbox()
  await writeAgent(box)
  assertFailed(await box.run(['policy', 'why', '-a', 'crb', 'bash(ls)']), 'missing', {
    message: /"crb"/,
    hint: /"crab"/,
  })
  const bad = await box.run(['policy', 'why', 'bash(ls)', '--allow', 'bash('])
  assert.deepEqual([bad.stdout, [2, 65].includes(bad.code)], ['', true])
  await writeConfig(box.home, '[permissions]\nallow = ["bash("]\n')
  assertFailed(await box.run(['policy', 'why', 'bash(ls)']), 'config', { message: /^config\.toml:2: / })
})

async function writeAgent(box: Sandbox): Promise<void> {
  await mkdir(join(box.home, 'agents'), { recursive: true, mode: 0o700 })
  await writeFile(join(box.home, 'agents/crab.toml'), AGENT, { mode: 0o600 })
}
