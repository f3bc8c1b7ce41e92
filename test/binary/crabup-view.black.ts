import assert from 'node:assert/strict'
import { access, chmod, mkdir, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type Finished, makeSandbox, type RunOptions, type Sandbox } from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { until } from '../support/until.ts'

/** The tests never use the service manager of this machine. */
const OWN = { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor' }

interface Shown {
  name: string
  state: string
  detail: string | null
  pid: number | null
  memory_bytes: number | null
  restarts: number | null
  notes: { message: string }[]
}

test('ps shows a daemon that runs, crashes and runs again; logs follow it; uninstall leaves nothing running', async () => {
  await using box = await makeSandbox()
  const none = await crabup(box, ['ps'])
  assert.deepEqual([none.code, none.stderr], [0, ''])
  assert.match(none.stdout, /^NAME +STATE .*\ndaemon +stopped +- .*\ncron +stopped /)
  await assert.rejects(access(box.home), { code: 'ENOENT' })

  const following = box.start(['daemon', 'logs', '-f'], { program: 'crabup', env: OWN })
  assert.equal((await crabup(box, ['daemon', 'start'])).code, 0)
  await following.prints(/"message":"listening on unix:/)
  const first = await findDaemonPid(box)
  assert.deepEqual([first.state, first.restarts], ['ready', 0])
  assert.ok(first.memory_bytes! > 30_000_000, `${first.memory_bytes}`)

  process.kill(first.pid!, 'SIGKILL')
  const crashed = await findDaemonPid(box)
  if (crashed.state === 'crashed')
    assert.match(crashed.detail ?? '', /^SIGKILL, 1 of 10, and will be restarted$/)
  let second = crashed
  await until('it runs again', async () => {
    second = await findDaemonPid(box)
    return second.state === 'ready' && second.pid !== first.pid
  })
  assert.equal(second.restarts, 1)
  await following.prints(new RegExp(`listening on unix:[\\s\\S]*"pid":${second.pid}.*listening on unix:`))
  following.child.kill('SIGINT')
  const followed = await following.finished
  assert.deepEqual([followed.code, followed.stderr], [130, ''])
  assert.match(followed.stdout, /process \d+/) // a line of the supervisor about it

  const all = await crabup(box, ['logs', '--json', '--since', '1h'])
  const entries = all.stdout
    .trimEnd()
    .split('\n')
    .map((line): { service: string; time: string } => JSON.parse(line))
  assert.deepEqual([...new Set(entries.map(({ service }) => service))].toSorted(), ['daemon', 'supervisor'])
  assert.deepEqual(
    entries,
    entries.toSorted((a, b) => a.time.localeCompare(b.time)),
  )
  const last = await crabup(box, ['logs', 'daemon', '-n', '1'])
  assert.equal(last.stdout.trimEnd().split('\n').length, 1)

  const refused = await crabup(box, ['uninstall'])
  assert.deepEqual([refused.code, refused.stdout], [4, ''])
  assert.match(
    refused.stderr,
    /Cannot end daemon and remove the units: there is no terminal to ask for confirmation\nhint: .*--yes/,
  )
  const terminal = box.terminal(['uninstall'], { program: 'crabup', env: OWN })
  await terminal.shows(/End daemon and remove the units\? \[y\/N\]/)
  terminal.type('n\r')
  assert.equal((await terminal.finished).code, 4)
  const untouched = await findDaemonPid(box)
  assert.deepEqual([untouched.state, untouched.pid], ['ready', second.pid])
  const gone = await crabup(box, ['uninstall', '--yes'])
  assert.deepEqual([gone.code, gone.stderr], [0, ''])
  assert.match(gone.stdout, /^ended daemon; its unit is removed\nkept your data in .*\nthe program itself /)
  assert.deepEqual(await box.processesLeft(), [])
  assert.equal((await findDaemonPid(box)).state, 'stopped')
})

test('ps --watch redraws the screen until q, and prints one object per line in a pipe', async () => {
  await using box = await makeSandbox()
  const drawn = box.terminal(['ps', '--watch'], { program: 'crabup', env: OWN, columns: 60, rows: 12 })
  await drawn.shows(/daemon +\S*stopped/)
  drawn.resize({ columns: 30, rows: 2 })
  await drawn.shows(/… 2 more lines; q quits/)
  drawn.type('q')
  assert.deepEqual(await drawn.finished, { code: 0, signal: 0 })
  const output = drawn.output().replaceAll('\u001b', '␛')
  assert.match(output, /^␛\[\?1049h␛\[\?25l[\s\S]*␛\[\?25h␛\[\?1049l$/) // the main screen is restored
  assert.doesNotMatch(output, /␛\[[23]J/)
  const cut = box.terminal(['ps', '-w'], { program: 'crabup', env: OWN })
  await cut.shows(/daemon/)
  cut.type('\u0003')
  assert.equal((await cut.finished).code, 130)

  const refused = await crabup(box, ['ps', '--watch'])
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /not a terminal\nhint: with --json/)
  const watching = box.start(['ps', '--watch', '--json'], { program: 'crabup', env: OWN })
  await watching.prints(/^\{"v":1,.*"services":\[\{"name":"daemon".*\}\n/)
  watching.child.kill('SIGINT')
  assert.deepEqual((await watching.finished).code, 130)
})

test('logs are pretty on a terminal and raw in a pipe, end quietly with their reader, and know the services', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.home, 'logs'), { recursive: true })
  const line = (n: number) => {
    return JSON.stringify({ time: new Date(1e12 + n).toISOString(), level: 'warn', message: `m${n}`, n })
  }
  const lines = Array.from({ length: 50_000 }, (_, n) => line(n))
  await writeFile(join(box.home, 'logs/daemon.log'), `${lines.join('\n')}\n`)
  await writeFile(join(box.home, 'logs/daemon.crash.log'), 'Error: boom\n')
  const raw = await crabup(box, ['daemon', 'logs', '-n', '3'])
  assert.deepEqual(raw.stdout.split('\n'), [...lines.slice(-2), 'Error: boom', ''])
  const cut = await box.shell('{ crabup daemon logs -n 40000; echo $? >code; } | head -1; cat code', {
    env: OWN,
  })
  assert.deepEqual([cut.stdout, cut.stderr], [`${lines.at(-39_999)}\n141\n`, ''])
  const terminal = box.terminal(['logs', '-n', '2'], { program: 'crabup', env: OWN })
  assert.equal((await terminal.finished).code, 0)
  assert.ok(terminal.output().includes('\u001b[33mwarn'))
  assert.match(
    stripVTControlCharacters(terminal.output()),
    /daemon 2001-09-0\d \S+ warn {2}m49999 n=49999\r\ndaemon .* crash Error: boom/,
  )
  const unknown = await crabup(box, ['deamon', 'logs'])
  assert.deepEqual([unknown.code, unknown.stdout], [4, ''])
  assert.match(unknown.stderr, /^crabup: error\[no-service\]: .*\nhint: did you mean "daemon"\?\n$/)
  const wrong = await crabup(box, ['logs', '--since', 'soon'])
  assert.equal(wrong.code, 2)
  const silent = await crabup(box, ['cron', 'logs'])
  assert.deepEqual([silent.code, silent.stdout, silent.stderr], [0, '', 'Nothing was written by cron yet\n'])
})

test('doctor finds what services lack, and --fix repairs what is safe', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.home, 'run'), { recursive: true, mode: 0o700 })
  await chmod(box.home, 0o700)
  const secrets = join(box.home, 'service.env')
  await writeFile(secrets, "OPENAI_API_KEY='k'\n")
  await chmod(secrets, 0o644)
  const port = join(box.home, 'run/clock.port')
  await writeFile(port, '1\n')
  await utimes(port, 1, 1)
  const printed = join(box.home, 'logs/clock.crash.log')
  await mkdir(join(box.home, 'logs'))
  await writeFile(printed, '')
  await truncate(printed, 61_000_000)
  const agents = join(box.home, 'agents')
  await mkdir(agents)
  const tools = join(box.cwd, 'tools')
  await mkdir(tools)
  await writeFile(join(tools, 'my-server'), '#!/bin/sh\n', { mode: 0o755 })
  await writeFile(join(agents, 'crab.toml'), '[[mcps]]\nname = "own"\ncommand = "my-server"\n')
  const env = { ANTHROPIC_API_KEY: 'sk-none', PATH: `${tools}:${box.env['PATH']}` }
  await chmod(box.home, 0o755)
  const { stdout, code } = await crabup(box, ['doctor'], { env })
  assert.equal(code, 1)
  assert.match(stdout, /problem {2}\S.*service\.env: others can read the secrets in it/)
  assert.match(stdout, /warning {2}ANTHROPIC_API_KEY is set in this shell, but services do not see it/)
  assert.match(
    stdout,
    /warning {2}own of crab: my-server is found by this shell \(.*\), but not by the service/,
  )
  assert.match(stdout, /note {5}\S.*clock\.port was left behind/)
  assert.match(stdout, /warning {2}\S.*clock\.crash\.log has 61\.0 MB\n +hint: crabup clock stop, then/)
  assert.doesNotMatch(stdout, /sk-none|'k'/)
  const { checks } = JSON.parse((await crabup(box, ['doctor', '--fix', '--json'], { env })).stdout) as {
    checks: { status: string; message: string }[]
  }
  const mended = checks.filter(({ message }) => message.startsWith('fixed: '))
  assert.deepEqual([...new Set(mended.map(({ status }) => status))], ['ok'])
  assert.equal((await stat(secrets)).mode & 0o777, 0o600)
  await assert.rejects(access(port), { code: 'ENOENT' })
})

test('uninstall --purge removes the data after a question, and never without an answer', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.home, 'sessions'), { recursive: true })
  await writeFile(join(box.home, 'sessions/a.jsonl'), 'x'.repeat(2000))
  await writeFile(join(box.home, 'diary.txt'), 'mine')
  const plan = await crabup(box, ['uninstall', '--purge', '--dry-run'])
  assert.match(plan.stdout, /^would remove sessions +\d+\.\d kB, 1 file\n/) // nothing has been pulled
  const refused = await crabup(box, ['uninstall', '--purge'])
  assert.deepEqual([refused.code, refused.stdout], [4, ''])
  assert.match(
    refused.stderr,
    /there is no terminal to ask for confirmation\nhint: crabup uninstall --purge --yes /,
  )
  const terminal = box.terminal(['uninstall', '--purge'], { program: 'crabup', env: OWN })
  await terminal.shows(/sessions +\d+\.\d kB, 1 file\s+Permanently remove all of it\? \[y\/N\]/)
  terminal.type('n\r')
  assert.equal((await terminal.finished).code, 4)
  await access(join(box.home, 'sessions/a.jsonl'))
  const purged = await crabup(box, ['uninstall', '--purge', '--yes'])
  assert.equal(purged.code, 0)
  assert.match(purged.stdout, /kept, because crabtalk did not create it: diary\.txt\n/)
  await assert.rejects(access(join(box.home, 'sessions')), { code: 'ENOENT' })
  await access(join(box.home, 'diary.txt'))
  const home = await crabup(box, ['uninstall', '--purge', '--yes'], {
    env: { CRABTALK_HOME: box.env['HOME']! },
  })
  assert.match(home.stderr, /error\[conflict\]: Cannot remove the data: .* holds more than crabtalk's data/)
})

test('uninstall keeps the components when the answer is no', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.home, 'packages/clock/current'), { recursive: true })
  const terminal = box.terminal(['uninstall'], { program: 'crabup', env: OWN })
  await terminal.shows(/Remove the components clock\? \[y\/N\]/)
  terminal.type('n\r')
  assert.equal((await terminal.finished).code, 4)
  await access(join(box.home, 'packages/clock'))
})

async function crabup(box: Sandbox, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return await box.run(args, { ...options, program: 'crabup', env: { ...OWN, ...options.env } })
}

async function findDaemonPid(box: Sandbox): Promise<Shown> {
  const { stdout } = await crabup(box, ['ps', '--json'])
  const { services } = JSON.parse(stdout) as { services: Shown[] }
  return services.find(({ name }) => name === 'daemon')!
}
