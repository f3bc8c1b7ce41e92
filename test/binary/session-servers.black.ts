import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'smol-toml'
import { openChat, type Session } from '../support/chat-session.ts'
import { chooseDigit } from '../support/choose-digit.ts'
import { type StdioEntry, type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import { type RecordFolder, recordFolder } from '../support/mcp/record-folder.ts'
import type { Reply } from '../support/model-server.ts'
import { HAS_DAEMONS } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk, shortConfig, type Talk, writeConfig } from '../support/talk.ts'
import { until } from '../support/until.ts'

const HELLO: Reply = { parts: ['Hello.'] }
const FEW = { tools: ['few'] } as const

for (const daemon of [false, true]) {
  const env = daemon ? WITH_DAEMON : {}
  const how = daemon ? 'with a daemon' : 'without a daemon'

  test(`a cloned repository starts no server before it is trusted, ${how}`, async () => {
    await using records = await recordFolder()
    await using talk = await makeTalk(() => HELLO)
    await using _ = daemon && !HAS_DAEMONS ? await startSandboxDaemon(talk) : undefined
    const { toml, json } = await cloneProject(talk, records)
    const first = await talk.send(['hi'], { env, cwd: join(talk.cwd, 'src') })
    assert.deepEqual([first.code, first.stdout], [0, 'Hello.\n'])
    assert.equal(
      first.stderr,
      `crabtalk: 1 MCP server of ${talk.cwd}/.mcp.json is not used: you have not trusted the file; to review it: crabtalk trust
crabtalk: 1 MCP server of ${talk.cwd}/.crabtalk/mcp.toml is not used: you have not trusted the file; to review it: crabtalk trust\n`,
    )
    await fireCron(talk, env)
    const events = await talk.run(['mcp', 'list'], { env })
    assert.equal(events.code, 0, events.stderr)
    assert.deepEqual([toml.starts(), json.starts()], [[], []])

    const unasked = await talk.run(['trust'], { env })
    assert.equal(unasked.code, 4, unasked.stderr)
    assert.match(unasked.stdout, new RegExp(`${talk.cwd}/.mcp.json\n  claude-one\n    runs `))
    assert.match(unasked.stderr, /there is no terminal[\s\S]*--yes/)
    const half = talk.terminal(['trust'], { env })
    await half.shows(/\.mcp\.json in your conversations here\? \[y\/N\] /)
    half.type('n\r')
    await half.shows(/mcp\.toml in your conversations here\? \[y\/N\] /)
    half.type('n\r')
    assert.equal((await half.finished).code, 4)
    const trusted = await talk.run(['trust', '--yes'], { env })
    assert.equal(trusted.code, 0, trusted.stderr)
    assert.ok(trusted.stdout.includes(json.entry.args.at(-1)!), trusted.stdout)
    const second = await talk.send(['hi'], { env })
    assert.deepEqual([second.code, second.stderr], [0, ''])
    assert.deepEqual([toml.starts().length, json.starts().length], [1, 1])
    const names = talk.server.requests.at(-1)!.text
    assert.match(names, /mcp__one__/)
    assert.match(names, /mcp__claude-one__/)
    await fireCron(talk, env)
    assert.equal(toml.starts().length, 1)

    const agent = await readFile(join(talk.home, 'agents', 'crab.toml'), 'utf8').catch(() => '')
    assert.ok(!agent.includes('mcps'), agent)
    const changed = watchedServer(records.path, FEW, { name: 'one' })
    await writeProject(talk, changed.entry)
    const third = await talk.send(['hi'], { env })
    assert.match(third.stderr, /mcp\.toml is not used: you have not trusted the file/)
    assert.deepEqual(changed.starts(), [])
    const shown = await talk.run(['trust'], { env })
    assert.match(shown.stdout, /one \(changed\)\n {4}was .*\n {4}runs /)
    assert.match(shown.stdout, /The file has changed since you trusted it on \d{4}-/)
    if (!daemon) return
    const before = await talk.run(['mcp', 'ps'], { env })
    assert.match(before.stdout, new RegExp(`claude-one +connected +crab in ${talk.cwd} `), before.stderr)
    assert.equal((await talk.run(['trust', '--revoke'], { env })).code, 0)
    await until('the servers end', async () =>
      /No servers are running/.test((await talk.run(['mcp', 'ps'], { env })).stderr),
    )
  })
}

for (const isPlain of [false, true]) {
  test(`the chat asks with the exact commands before it starts servers of a project${isPlain ? ', in plain lines' : ''}`, async () => {
    await using records = await recordFolder()
    await using talk = await makeTalk(() => HELLO)
    const { toml } = await cloneProject(talk, records)
    await rm(join(talk.cwd, '.mcp.json'))
    const args = ['chat', '-s', 'ann', ...(isPlain ? ['--plain'] : []), 'hi']
    await using chat = openChat(talk, args, { columns: 160, rows: 50 })
    await chat.shows('Start the MCP servers of')
    await chat.shows('runs ')
    await chat.shows(toml.mark.slice(0, 12))
    assert.deepEqual([toml.starts(), talk.server.requests.length], [[], 0])
    if (isPlain) await typeAnswer(chat, '1')
    else await chooseDigit(chat, '1')
    await chat.shows('Hello.')
    assert.equal(toml.starts().length, 1)
    assert.match(talk.server.requests.at(-1)!.text, /mcp__one__/)
    const changed = watchedServer(records.path, FEW, { name: 'one' })
    await writeProject(talk, changed.entry)
    chat.type('again\r')
    await chat.shows('one (changed)')
    if (isPlain) await typeAnswer(chat, '4')
    else await chooseDigit(chat, '4')
    await chat.shows((screen) => screen.lines().filter((line) => line.includes('Hello.')).length === 2)
    assert.deepEqual(changed.starts(), [])
    assert.doesNotMatch(talk.server.requests.at(-1)!.text, /mcp__one__/)
    const list = await talk.run(['trust', 'list'])
    assert.match(list.stdout, /untrusted .*mcp\.toml +servers: one/)
  })
}

test('the files of another place, of another user and of links are not read', async () => {
  await using records = await recordFolder()
  await using talk = await makeTalk(() => HELLO)
  const { toml } = await cloneProject(talk, records)
  await talk.run(['trust', '--yes'])
  await rm(join(talk.cwd, '.mcp.json'))
  await chmod(join(talk.cwd, '.crabtalk', 'mcp.toml'), 0o666)
  const open = await talk.send(['hi'])
  assert.match(open.stderr, /mcp\.toml is not read: every user of this machine can write it/)
  const outside = join(talk.home, 'outside.toml')
  await writeFile(outside, stringify({ server: toServers(toml.entry) }))
  await rm(join(talk.cwd, '.crabtalk', 'mcp.toml'))
  await symlink(outside, join(talk.cwd, '.crabtalk', 'mcp.toml'))
  const linked = await talk.send(['hi'])
  assert.match(linked.stderr, /mcp\.toml is not read: it is a link that points outside its folder/)
  await writeFile(join(talk.cwd, 'no.txt'), '')
  assert.deepEqual(toml.starts(), [])
})

test("the user's mcp.toml needs no trust; a project replaces its entries, and values come from the environment", async () => {
  await using records = await recordFolder()
  await using talk = await makeTalk(() => HELLO)
  const [mine, theirs, own] = ['one', 'one', 'own'].map((name) =>
    watchedServer(records.path, FEW, { name, env: { TOKEN: variable('MY_TOKEN:-none') } }),
  ) as [WatchedServer, WatchedServer, WatchedServer]
  const user = join(talk.env['HOME']!, '.config', 'crabtalk', 'mcp.toml')
  await mkdir(join(user, '..'), { recursive: true })
  const servers = {
    ...toServers(mine.entry),
    ...toServers(own.entry),
    bad: { command: 'x', args: [variable('NOT_SET')] },
  }
  await writeFile(user, stringify({ server: servers }))
  const first = await talk.send(['hi'])
  assert.equal(
    first.stderr,
    `crabtalk: the server "bad" is not used: ${user}:15: NOT_SET is not set (crabtalk vault set NOT_SET stores it; a default is \${NOT_SET:-VALUE})\n`,
  )
  assert.deepEqual([mine.starts().length, own.starts().length], [1, 1])
  await writeProject(talk, theirs.entry, { own: { disabled: true }, bad: { disabled: true } })
  const held = await talk.send(['hi'])
  assert.match(held.stderr, /3 MCP servers of .*mcp\.toml are not used/)
  assert.deepEqual([theirs.starts(), serversOf(talk)], [[], ['one', 'own']])
  await talk.run(['trust', '--yes'])
  const replaced = await talk.send(['hi'])
  assert.equal(replaced.stderr, '')
  assert.deepEqual([theirs.starts().length, serversOf(talk)], [1, ['one']])
  for (const [args, env] of [
    [['--no-mcp', 'hi'], {}],
    [['hi'], { CRABTALK_NO_MCP: '1' }],
  ] as const) {
    assert.equal((await talk.send(args, { env })).stderr, '')
    assert.deepEqual(serversOf(talk), [])
  }
  await talk.run(['mcp', 'add', '--no-verify', 'one', '--', 'no-such-program'])
  const clash = await talk.send(['hi'])
  assert.match(clash.stderr, /the server "one" of .*mcp\.toml is not used: the agent has one of that name/)
  assert.equal(theirs.starts().length, 1)
})

test('mcp commands with --scope change a file of servers, keep trust in it, and lose nothing when several run together', async () => {
  await using talk = await makeTalk(() => HELLO)
  await mkdir(join(talk.cwd, '.git'))
  const path = join(talk.cwd, '.crabtalk', 'mcp.toml')
  const project = ['--scope', 'project']
  const add = ['mcp', 'add', ...project, '-e', 'API_TOKEN']
  const added = await talk.run([...add, 'docs', './server.js', './data'], {
    env: { API_TOKEN: 'planted-value' },
  })
  assert.deepEqual([added.code, added.stdout], [0, `added docs in ${path}\n`], added.stderr)
  assert.match(added.stderr, /docs cannot start yet: .*API_TOKEN is not set|^$/)
  await writeFile(path, `# ours\n${await readFile(path, 'utf8')}`)
  const untrusted = await talk.send(['hi'])
  assert.match(untrusted.stderr, /you have not trusted the file/)
  await talk.run(['trust', '--yes'])
  const names = ['a', 'b', 'c', 'd', 'e']
  const runs = await Promise.all(
    names.map((name) => talk.run(['mcp', 'add', ...project, name, 'no-such-program'])),
  )
  assert.deepEqual(
    runs.map(({ code }) => code),
    [0, 0, 0, 0, 0],
    runs.map(({ stderr }) => stderr).join(''),
  )
  for (const args of [
    ['set', ...project, 'a', 'timeout_ms=5'],
    ['disable', ...project, 'b'],
    ['disable', ...project, 'other'],
    ['remove', ...project, 'c'],
  ]) {
    const changed = await talk.run(['mcp', ...args])
    assert.equal(changed.code, 0, changed.stderr)
  }
  const text = await readFile(path, 'utf8')
  assert.ok(text.startsWith('# ours\n[server.docs]\ncommand = "./server.js"\nargs = ["./data"]\n'), text)
  assert.ok(text.includes(`env = { API_TOKEN = "${variable('API_TOKEN')}" }`), text)
  assert.doesNotMatch(text, /planted-value|\[server\.c\]/)
  assert.match(text, /\[server\.a\]\ncommand = "no-such-program"\ntimeout_ms = 5\n/)
  assert.match(text, /\[server\.other\]\ndisabled = true\n/)
  for (const name of ['a', 'b', 'd', 'e']) assert.ok(text.includes(`[server.${name}]`), name)
  const list = await talk.run(['mcp', 'list'])
  assert.match(list.stdout, /^docs +invalid +.*mcp\.toml +\.\/server\.js \.\/data$/m)
  assert.match(list.stdout, /^b +disabled /m)
  assert.match(list.stderr, /docs: .*mcp\.toml:\d+: API_TOKEN is not set \(crabtalk vault set API_TOKEN/)
  const wrong = await talk.run(['mcp', 'set', ...project, 'a', 'timeout_ms=soon'])
  assertFailed(wrong, 'invalid', { message: /"timeout_ms" must be/ })
  for (const [name, word] of [
    ['docs', 'timeout_ms=abc'],
    ['docs', 'bogus=1'],
    ['b', 'startup_timeout_ms=x'],
  ] as const) {
    const outcome = await talk.run(['mcp', 'set', ...project, name, word])
    assertFailed(outcome, 'invalid', { message: /"(timeout_ms|bogus|startup_timeout_ms)"/ })
  }
  const hidden = '{"command":"./server.js","env":{"API_TOKEN":"[secret]"}}'
  assert.equal((await talk.run(['mcp', 'set', ...project, 'docs', hidden])).code, 0)
  assert.ok((await readFile(path, 'utf8')).includes(`API_TOKEN = "${variable('API_TOKEN')}"`))
  const unknown = await talk.run(['mcp', 'add', ...project, 'new', hidden])
  assertFailed(unknown, 'invalid', { message: /"env\.API_TOKEN" is \[secret\], and there is no stored/ })
  const taken = await talk.run(['mcp', 'add', ...project, 'a', 'x'])
  assertFailed(taken, 'conflict', { message: /already has it/ })
})

for (const daemon of [false, true]) {
  test(`mcp get, tools, ping, call, logs, health and reconnect use servers of files, only of trusted ones, ${daemon ? 'with' : 'without'} a daemon`, async () => {
    await using records = await recordFolder()
    await using talk = await makeTalk(() => HELLO)
    await using _ = daemon && !HAS_DAEMONS ? await startSandboxDaemon(talk) : undefined
    const env = daemon ? WITH_DAEMON : {}
    const mcp = (...args: string[]) => talk.run(['mcp', ...args], { env })
    const [mine, theirs] = ['one', 'one'].map((name) =>
      watchedServer(records.path, FEW, { name, env: { TOKEN: variable('MY_TOKEN:-planted-value') } }),
    ) as [WatchedServer, WatchedServer]
    const user = join(talk.env['HOME']!, '.config', 'crabtalk', 'mcp.toml')
    await mkdir(join(user, '..'), { recursive: true })
    await writeFile(user, stringify({ server: toServers(mine.entry) }))
    const others = { off: { disabled: true }, gone: { command: 'no-such-program' } }
    await writeProject(talk, theirs.entry, { ...others, bad: { command: variable('NOT_SET') } })

    const held = await mcp('ping', '--scope', 'project', 'one')
    assert.match(
      held.stderr,
      /you have not trusted its file yet \(crabtalk trust|trusted its file yet\n.*crabtalk trust/,
    )
    for (const args of [['tools'], ['call', 'one', 'echo', 'text=x']]) {
      const [verb = '', name = 'one', ...rest] = args
      const refused = await mcp(verb, '--scope', 'project', name, ...rest)
      assertFailed(refused, 'config', {
        message: /you have not trusted its file yet/,
        hint: /crabtalk trust/,
      })
    }
    assert.deepEqual(theirs.starts(), [])
    const called = await mcp('call', 'one', 'echo', 'text=hi')
    assert.deepEqual([called.stdout, called.stderr], ['hi\n', ''])
    assert.deepEqual([mine.starts().length > 0, theirs.starts()], [true, []])

    await talk.run(['trust', '--yes'])
    const before = mine.starts().length
    assert.equal((await mcp('call', 'one', 'echo', 'text=hi')).stdout, 'hi\n')
    assert.match((await mcp('tools', 'one')).stdout, /^mcp__one__echo +ask /m)
    assert.match((await mcp('ping', '--scope', 'project', 'one')).stdout, /^one +ok +2 /m)
    assert.ok(theirs.starts().length > 0)
    assert.equal(mine.starts().length, before)
    assert.match((await mcp('ping', '--scope', 'user')).stdout, /^one +ok +2 /m)
    assert.equal(mine.starts().length, before + 1)

    assert.equal((await mcp('logs', '--scope', 'user', 'one')).code, 0)
    assert.match((await mcp('health', 'one')).stdout, /^one +(connected|ready) /m)
    const again = await mcp('reconnect', 'one')
    if (daemon) assert.match(again.stdout, /^reconnected one: 2 tools/, again.stderr)
    else assertFailed(again, 'unavailable', { message: /DAEMON/ })
    assertFailed(await mcp('call', 'gone', 'x'), 'unavailable', { message: /no-such-program/ })
    const health = await mcp('health', 'gone')
    assert.deepEqual([health.code, /^gone +failed /m.test(health.stdout)], [69, true], health.stdout)
    const list = await mcp('list')
    assert.match(list.stdout, /^gone +failed +.*mcp\.toml +no-such-program$/m)
    assert.match(list.stderr, /^crabtalk: gone: .*no-such-program/m)
    const got = await mcp('get', 'one')
    assert.match(got.stdout, /^# one: .+\/\.crabtalk\/mcp\.toml\n# ready\n\n\[server\.one\]\ncommand = /)
    assert.doesNotMatch(got.stdout, /planted-value/)
    const json = JSON.parse((await mcp('get', '--json', '--scope', 'user', 'one')).stdout)
    assert.deepEqual([json.name, json.source, json.scope, json.state], ['one', user, 'user', 'ready'])
    assertFailed(await mcp('call', 'bad', 'x'), 'config', {
      message: /NOT_SET is not set/,
      hint: /vault set/,
    })
    const off = { message: /disabled/, hint: /mcp enable --scope project off/ }
    for (const verb of ['tools', 'logs']) assertFailed(await mcp(verb, 'off'), 'config', off)
    assertFailed(await mcp('get', '--scope', 'user', 'oen'), 'missing', { message: /oen/, hint: /"one"/ })
    await until('nothing is left of them', () => [...mine.starts(), ...theirs.starts()].every(isGone))
    await mcp('add', '--no-verify', 'one', '--', 'no-such-program')
    assertFailed(await mcp('call', 'one', 'echo', 'text=hi'), 'unavailable', { message: /no-such-program/ })
    assert.equal((await mcp('call', '--scope', 'project', 'one', 'echo', 'text=hi')).stdout, 'hi\n')
  })
}

function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}

test("no stored rule allows a tool of a project's server: neither in its repository nor in another one", async () => {
  await using records = await recordFolder()
  const answers: Reply[] = []
  await using talk = await makeTalk(() => answers.shift() ?? HELLO)
  const here = watchedServer(records.path, FEW, { name: 'pj' })
  await writeProject(talk, here.entry)
  await talk.run(['trust', '--yes'])
  await writeConfig(talk.home, `${shortConfig(talk.server.url)}[permissions]\nallow = ["mcp__pj__*"]\n`)
  const call = async (args: readonly string[]) => {
    answers.push({ parts: [{ call: 'c', name: 'mcp__pj__echo', args: '{"text":"x"}' }] })
    return await talk.send([...args, 'go'])
  }
  const denial = await call(['--on-ask', 'fail'])
  assertFailed(denial, 'denied', {
    message: /allows mcp__pj__\*, but no stored rule allows tools of a server that a project/,
  })
  const allowed = await call(['--allow', 'mcp__pj__*'])
  assert.equal(allowed.code, 0, allowed.stderr)
  await writeProject(talk, { ...here.entry, permissions: { allow: ['echo'] } } as StdioEntry)
  const shown = await talk.run(['trust', '--yes'])
  assert.match(shown.stdout, /runs the tool echo without asking you/)
  const own = await call(['--on-ask', 'fail'])
  assert.equal(own.code, 0, own.stderr)
})

/** Answers a question in plain lines. */
async function typeAnswer(chat: Session, digit: string): Promise<void> {
  await chat.shows(/gives none *\n> *\n*$/)
  chat.type(`${digit}\r`)
}

/** Makes the working directory a repository with a server in each of its files. */
async function cloneProject(
  talk: Talk,
  records: RecordFolder,
): Promise<{ toml: WatchedServer; json: WatchedServer }> {
  const toml = watchedServer(records.path, FEW, { name: 'one' })
  const json = watchedServer(records.path, FEW, { name: 'Claude One' })
  await mkdir(join(talk.cwd, '.git'))
  await mkdir(join(talk.cwd, 'src'))
  await writeProject(talk, toml.entry)
  const { name, ...rest } = json.entry
  await writeFile(
    join(talk.cwd, '.mcp.json'),
    JSON.stringify({ mcpServers: { [name]: { type: 'stdio', ...rest } } }),
  )
  return { toml, json }
}

async function writeProject(
  { cwd }: Talk,
  entry: StdioEntry,
  more: Record<string, object> = {},
): Promise<void> {
  await mkdir(join(cwd, '.crabtalk'), { recursive: true })
  await mkdir(join(cwd, '.git'), { recursive: true })
  await writeFile(join(cwd, '.crabtalk', 'mcp.toml'), stringify({ server: { ...toServers(entry), ...more } }))
}

function toServers({ name, ...rest }: StdioEntry): Record<string, object> {
  return { [name]: rest }
}

/** Returns the servers whose tools the last request has. */
function serversOf({ server }: Talk): string[] {
  const names = server.requests.at(-1)!.text.matchAll(/mcp__([\w-]+?)__/g)
  return [...new Set([...names].map(([, name]) => name!))].toSorted()
}

/** Writes a placeholder as a file has it. */
function variable(text: string): string {
  return `\${${text}}`
}

/** Fires a schedule that was written in the project. */
async function fireCron(talk: Talk, env: Record<string, string | undefined>): Promise<void> {
  const fired = await talk.shell('crabtalk cron add "0 0 9 * * *" hi >/dev/null; crabtalk cron run 1', {
    env,
  })
  assert.equal(fired.code, 0, fired.stderr)
}
