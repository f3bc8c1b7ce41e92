import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { followTerminal } from '../support/chat-session.ts'
import { writeTellingServer } from '../support/mcp/telling-server.ts'
import { readOtherFiles } from '../support/planted-secrets.ts'
import type { Finished } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const PLANTED = 'ghp_planted0123456789abcdefghijklmnopqrst'
const CALL = { call: 'c', name: 'mcp__told__tell', args: '{}' }
const COMMANDS = [
  ['mcp', 'list', '--json'],
  ['mcp', 'get', 'told', '--json'],
  ['mcp', 'ping', 'told', '--json'],
  ['mcp', 'ps', '--json'],
  ['mcp', 'logs', 'told', '--json'],
  ['mcp', 'health', 'told', '--json'],
  ['mcp', 'call', 'told', 'tell'],
  ['agent', 'show', '--json'],
  ['config', 'show', '--json'],
  ['doctor', '--deep', '--json'],
  ['daemon', 'status', '--json'],
  ['conversation', 'list', '--json'],
  ['vault', 'list', '--json'],
  ['vault', 'status', '--json'],
  ['vault', 'explain', 'TOKEN', '--json'],
]

test('a credential that is stored later starts its server in the daemon, and is found nowhere but in the vault', async () => {
  await using talk = await makeToldTalk()
  await using daemon = await startSandboxDaemon(talk)
  const watching = [
    ['mcp', 'trace', '--json'],
    ['events', '--mcp', '--json'],
  ].map((words) => talk.start(words, { env: WITH_DAEMON }))
  const seen: string[] = []
  const run = async (words: readonly string[], stdin?: string): Promise<Finished> => {
    const finished = await talk.run(words, { env: WITH_DAEMON, ...(stdin !== undefined && { stdin }) })
    seen.push(finished.stdout, finished.stderr)
    return finished
  }
  const before = await run(['send', '--no-stdin', 'hello', '--output', 'stream-json'])
  assert.match(before.stdout + before.stderr, /Cannot find TOKEN: .*crabtalk vault set TOKEN/)
  assert.equal(await readState(run), 'needs_auth')
  await run(['vault', 'set', 'TOKEN'], PLANTED)
  await until('the server is connected', async () => (await readState(run)) === 'connected')
  await run(['send', '--no-stdin', '--allow', 'mcp__told__tell', 'call it', '--output', 'stream-json'])
  const answers = talk.server.requests.map(({ json }) => JSON.stringify(json))
  assert.ok(answers.some((text) => text.includes(`[secret] has ${PLANTED.length}`)))
  for (const words of COMMANDS) await run(words)
  seen.push(...answers, await readCommandLines())
  await run(['vault', 'set', 'TOKEN'], `${PLANTED}-new`)
  await until('it runs with the new value', async () => {
    const { stdout } = await run(['mcp', 'call', 'told', 'tell'])
    return stdout.includes(`has ${PLANTED.length + 4}`)
  })
  for (const { child, finished } of watching) {
    child.kill('SIGINT')
    seen.push((await finished).stdout)
  }
  await daemon[Symbol.asyncDispose]()
  for (const [path, text] of await readOtherFiles(talk.home)) seen.push(`${path}\n${text}`)
  seen.push(await readFile(join(talk.home, 'agents/crab.toml'), 'utf8'))
  assert.deepEqual(
    seen.filter((text) => text.includes(PLANTED)),
    [],
  )
})

test('a credential that is stored later works in the same chat without a daemon', async () => {
  await using talk = await makeToldTalk()
  const env = { TERM: 'xterm-256color' }
  await using chat = followTerminal(talk.terminal(['--allow', 'mcp__told__tell'], { env }), {})
  await chat.shows('> Ask anything')
  chat.type('hello\r')
  await chat.shows('crabtalk vault set TOKEN')
  await talk.run(['vault', 'set', 'TOKEN'], { stdin: PLANTED })
  await until('its server has started', () => existsSync(join(talk.cwd, 'started')))
  chat.type('call it\r')
  await until('the model got its answer', async () => {
    return talk.server.requests.some(({ json }) => JSON.stringify(json).includes(`has ${PLANTED.length}`))
  })
  await chat.shows('it has told')
  await chat.shows('> Ask anything')
  chat.press('ctrl+d')
  await chat.finished
  assert.doesNotMatch(chat.bytes(), /ghp_/)
})

/** Starts a talk whose model calls the server `told` when it has it, with an entry that names the credential. */
async function makeToldTalk(): Promise<Talk> {
  const talk = await makeTalk(({ json }) => {
    const text = JSON.stringify(json)
    if (text.includes(' has ')) return { parts: ['it has told'] }
    return { parts: text.includes('mcp__told__tell') ? [CALL] : ['nothing to call'] }
  })
  const server = join(talk.cwd, 'server.cjs')
  await writeTellingServer(server)
  const entry = { name: 'told', command: process.execPath, args: [server], startup_timeout_ms: 60_000 }
  const added = await talk.run(['mcp', 'add', '--no-verify', JSON.stringify(entry)])
  assert.equal(added.code, 0, added.stderr)
  const helper = 'env_helper=["crabtalk", "vault", "env", "TOKEN"]'
  const set = await talk.run(['mcp', 'set', '--no-verify', 'told', helper])
  assert.equal(set.code, 0, set.stderr)
  return talk
}

async function readState(run: (words: readonly string[]) => Promise<Finished>): Promise<string> {
  const { stdout } = await run(['mcp', 'list', '--json'])
  return JSON.parse(stdout)[0]?.state
}

/** Reads the command lines of all processes of the machine. */
async function readCommandLines(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')), // it has ended
  )
  return lines.join('\n')
}
