import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RecordedRequest } from '../../support/model-server.ts'
import { serveCommands } from '../../support/served-commands.ts'
import { requestMessages } from '../../support/test-node.ts'

const SENDERS = ['tg:1', 'event:x', 'cron'] as const

/** Makes one call in each turn, then repeats its result. */
function calling(name: string, args: object) {
  const call = { call: 'c', name, args: JSON.stringify(args) }
  return (request: RecordedRequest) => {
    const last = requestMessages(request).at(-1)
    return { parts: [last?.['role'] === 'tool' ? String(last['content']) : call] }
  }
}

for (const sender of SENDERS) {
  test(`send -s ${sender} and policy why -s ${sender} agree with and without a daemon`, async () => {
    await using served = await serveCommands(calling('read', { path: '/etc/hostname' }))
    await served.daemon.home.write('config.toml', `${await served.daemon.home.read('config.toml')}${RULES}`)
    const lines = [
      ['send', '--no-stdin', '-s', sender, 'go'],
      ['send', '--no-stdin', '-s', sender, '--allow', 'bash', 'go'],
      ['send', '--no-stdin', '-s', sender, '--yolo', 'go'],
      ...CALLS.map((call) => ['policy', 'why', call, '-s', sender, '--json']),
      ['policy', 'why', 'bash(ls)', '-s', sender, '--yolo'],
    ]
    for (const line of lines) {
      const [through, without] = [await served.run(line), await served.run([...line, '--no-daemon'])]
      assert.deepEqual(through, without, line.join(' '))
    }
    const refused = await served.run(['send', '--no-stdin', '-s', sender, '--allow', 'bash', 'go'])
    const only = sender === 'tg:1' ? 'remote' : 'unattended'
    assert.equal(refused.code, 4)
    assert.match(
      refused.stderr,
      new RegExp(`^crabtalk: error\\[denied\\]: Cannot use allow: the conversation of "${sender}" is .*\\n`),
    )
    assert.match(
      refused.stderr,
      new RegExp(`\\nhint: allow it under \\[permissions\\.${only}\\] in config\\.toml`),
    )
  })
}

test('a turn of an untrusted sender writes in its own folder, not where the command was started', async () => {
  await using served = await serveCommands(calling('write', { path: 'made.txt', content: 'x' }))
  const { paths } = served.daemon.home
  await using command = await served.start(['send', '--no-stdin', '-s', 'tg:1', 'go', '--no-daemon'])
  assert.equal(await command.finished, 0)
  const [folder] = await readdir(join(paths.workspace, 'crab'))
  assert.match(folder!, /^[0-9a-f]{16}$/)
  assert.deepEqual(await readdir(join(paths.workspace, 'crab', folder!)), ['made.txt'])
  assert.ok(!(await readdir(command.at.folder)).includes('made.txt'))
})

test('policy why names the rule of the class and where it is written', async () => {
  await using served = await serveCommands([])
  await served.daemon.home.write('agents/crab.toml', RULES)
  const why = async (...args: string[]) => (await served.run(['policy', 'why', ...args])).stdout
  assert.match(
    await why('bash(make)', '-s', 'cron'),
    /^effect +allow\n.*\n.*\nclass +unattended\nrule +allow bash\(make\) \(agents\/crab\.toml:\d+\)\n/,
  )
  assert.match(await why('bash(make)', '-s', 'ann'), /^effect +ask\n/)
  assert.match(
    await why('bash(npm test)', '-s', 'cron'),
    /^effect +ask\n[\s\S]*\nto allow +bash\(.*\) in \[permissions\.unattended\]\n/,
  )
  assert.match(await why('recall', '-s', 'tg:1'), /^effect +allow\n/)
  assert.match(await why('remember', '-s', 'tg:1'), /^effect +deny\n/)
})

const CALLS = ['bash(ls)', 'bash(make)', 'remember', 'recall', 'edit(a.txt)', 'read(/etc/hostname)']

const RULES = `
[permissions]
allow = ["bash(npm *)", "read(/**)", "remember"]

[permissions.unattended]
allow = ["bash(make)"]

[permissions.remote]
allow = ["recall"]
`
