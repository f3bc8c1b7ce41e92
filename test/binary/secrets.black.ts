import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { toCrabError } from '../../src/core/base/errors.ts'
import { type Dispatch, request } from '../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../src/core/transport/client.ts'
import { findSecrets, type Planted, plantSecrets, readOtherFiles } from '../support/planted-secrets.ts'
import type { Finished, RunOptions } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'

const CALL = { call: 'c', name: 'mcp__leaky__leak', args: '{}' }
const NEVER = new AbortController().signal

/** Every command that shows entries, configuration, servers or errors. */
const VIEWS: readonly (readonly string[])[] = [
  ...['list', 'show', 'show --json', 'list --json'].map((words) => ['agent', ...words.split(' ')]),
  ['agent', 'edit', 'crab', '--set', 'description=x', '--json'],
  ...[
    'list',
    'list --json',
    'list --all',
    'tools',
    'tools --json',
    'ps',
    'ps --json',
    'cost',
    'cost --json',
    'view',
    'view crab',
    'view crab --json',
    'view --json',
  ].map((words) => ['mcp', ...words.split(' ')]),
  ...['leaky', 'remote', 'fixed', 'helped', 'off'].flatMap((name) => [
    ['mcp', 'get', name],
    ['mcp', 'get', name, '--json'],
    ['mcp', 'ping', name, '--json', '--debug'],
    ['mcp', 'set', name, 'timeout_ms=60000', '--debug'],
    ['mcp', 'logs', name],
    ['mcp', 'logs', name, '--json'],
    ['mcp', 'reconnect', name, '--debug'],
    ['mcp', 'health', name, '--json'],
    ['mcp', 'resources', name, '--json'],
  ]),
  ['mcp', 'call', 'leaky', 'leak'],
  ['mcp', 'call', 'leaky', 'leak', '--json'],
  ['mcp', 'call', 'remote', 'leak', '--debug'],
  ['config', 'show'],
  ['config', 'show', '--json'],
  ['config', 'check', '--json'],
  ['doctor'],
  ['doctor', '--deep', '--json'],
  ['policy', '--json'],
  ['policy', 'why', 'mcp__leaky__leak', '--json'],
  ['conversation', 'list', '--json'],
  ['conversation', 'search', 'secret', 'token', '--json'],
  ['send', '--no-stdin', 'leak', '--output', 'stream-json'],
  ['send', '--no-stdin', 'leak again', '--debug'],
  ['events', 'list', '--json'],
  ['daemon', 'status', '--json'],
]

const UP_VIEWS: readonly (readonly string[])[] = [
  ['doctor'],
  ['doctor', '--json'],
  ['ps', '--json'],
  ['list', '--json'],
  ['daemon', 'status', '--json'],
  ['daemon', 'start', '--dry-run'],
]

for (const hasDaemon of [false, true]) {
  test(`never shows, logs, indexes or sends the secrets of an entry, ${hasDaemon ? 'with' : 'without'} a daemon`, async (t) => {
    await using refusing = await startRefusing()
    await using talk = await makeTalk((_, at) => ({ parts: at % 2 === 0 ? [CALL] : ['done'] }))
    const place = { home: talk.home, cwd: talk.cwd, url: refusing.url, modelUrl: talk.server.url }
    const planted = await plantSecrets(place)
    assert.ok(Object.keys(planted).length >= 30)
    const before = await readFile(join(talk.home, 'agents/crab.toml'), 'utf8')
    const seen: [what: string, text: string][] = []
    const daemon = hasDaemon ? await startSandboxDaemon(talk) : undefined
    const env = hasDaemon ? WITH_DAEMON : {}
    const following = hasDaemon
      ? [
          ['mcp', 'trace'],
          ['mcp', 'trace', '--json'],
          ['events', '--json'],
          ['events', '--mcp', '--json'],
        ].map((words) => ({ words, running: talk.start(words, { env }) }))
      : []
    await using _ = {
      async [Symbol.asyncDispose]() {
        for (const { running } of following) running.child.kill('SIGINT')
        await Promise.all(following.map(({ running }) => running.finished))
        await daemon?.[Symbol.asyncDispose]()
      },
    }
    for (const words of VIEWS) await record(seen, talk, words, { env })
    for (const words of UP_VIEWS) await record(seen, talk, words, { env, program: 'crabup' })
    await writeBack(seen, talk, env)
    if (hasDaemon) seen.push(...(await wireAnswers(talk)))
    for (const { words, running } of following) {
      running.child.kill('SIGINT')
      seen.push([words.join(' '), joinOutput(await running.finished)])
    }
    await daemon?.[Symbol.asyncDispose]()
    for (const { json } of talk.server.requests) seen.push(['a request of the model', JSON.stringify(json)])
    seen.push(...(await readOtherFiles(talk.home)))
    const found = seen.flatMap(([what, text]) =>
      findSecrets(planted, text).map((where) => `${what}: ${where}`),
    )
    assert.deepEqual(found, [])
    assert.ok(seen.filter(([, text]) => text.includes('[secret]')).length > 20, 'nothing was hidden')
    const after = await readFile(join(talk.home, 'agents/crab.toml'), 'utf8')
    assert.deepEqual(findLostSecrets(planted, before, after), [])
    t.diagnostic(`${Object.keys(planted).length} secrets, ${seen.length} texts, none found`)
  })
}

/** Starts a server that refuses each request and repeats its URL and headers in the answer. */
async function startRefusing() {
  const server = createServer((request, response) => {
    response.writeHead(401, { 'content-type': 'application/json', 'www-authenticate': 'Bearer' })
    response.end(JSON.stringify({ url: request.url, headers: request.headers }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function record(
  seen: [string, string][],
  talk: Talk,
  words: readonly string[],
  options: RunOptions,
): Promise<Finished> {
  const finished = await talk.run(words, options)
  seen.push([`${options.program ?? 'crabtalk'} ${words.join(' ')}`, joinOutput(finished)])
  return finished
}

function joinOutput({ stdout, stderr }: Finished): string {
  return `${stdout}\n${stderr}`
}

/** Writes the shown values back: `set` keeps the stored secret, `add` under another name is refused. */
async function writeBack(seen: [string, string][], talk: Talk, env: RunOptions['env']): Promise<void> {
  const options = { env: { ...env } }
  for (const name of ['leaky', 'remote', 'helped']) {
    const { entry } = JSON.parse((await record(seen, talk, ['mcp', 'get', name, '--json'], options)).stdout)
    const keys = ['args', 'url', 'auth_helper', 'env', 'headers'].filter((key) => entry[key] !== undefined)
    const assignments = keys.map((key) => `${key}=${JSON.stringify(entry[key])}`)
    const set = await record(seen, talk, ['mcp', 'set', '--no-verify', name, ...assignments], options)
    assert.equal(set.code, 0, set.stderr)
    const stdin = JSON.stringify({ entry: { ...entry, timeout_ms: 61_000 } })
    for (const [word, input] of [
      ['-', { stdin }],
      [JSON.stringify(entry), {}],
    ] as const) {
      const words = ['mcp', 'set', '--no-verify', name, word]
      const whole = await record(seen, talk, words, { ...options, ...input })
      assert.equal(whole.code, 0, whole.stderr)
    }
    const added = await record(
      seen,
      talk,
      ['mcp', 'add', '--no-verify', 'other', JSON.stringify(entry)],
      options,
    )
    assert.equal(added.code, 65, added.stderr)
    assert.match(added.stderr, /\[secret\], and there is no stored value to keep/)
  }
}

async function wireAnswers(talk: Talk): Promise<[string, string][]> {
  const run = join(talk.home, 'run')
  const port = Number(await readFile(join(run, 'crabtalk.port'), 'utf8'))
  const token = (await readFile(join(run, 'tcp.token'), 'utf8')).trim()
  const transports: [string, Dispatch][] = [
    ['socket', socketDispatch({ endpoint: { kind: 'unix', path: join(run, 'crabtalk.sock') } })],
    ['TCP', socketDispatch({ endpoint: { kind: 'tcp', host: '127.0.0.1', port }, token })],
  ]
  const answers: [string, string][] = []
  for (const [door, dispatch] of transports) {
    const info = await toResult(request(dispatch, 'getAgent', { name: 'crab' }, NEVER))
    const config = 'config' in info ? String(info.config) : '{}'
    const all = {
      getAgent: info,
      listAgents: await toResult(request(dispatch, 'listAgents', {}, NEVER)),
      listMcps: await toResult(request(dispatch, 'listMcps', { agent: '' }, NEVER)),
      mcpView: await toResult(request(dispatch, 'mcpView', {}, NEVER)),
      updateAgent: await toResult(
        request(dispatch, 'updateAgent', { name: 'crab', config, prompt: '' }, NEVER),
      ),
      createAgent: await toResult(
        request(dispatch, 'createAgent', { name: 'copy', config, prompt: '' }, NEVER),
      ),
      upsertMcp: await toResult(
        request(
          dispatch,
          'upsertMcp',
          { agent: '', config: '{"name":"remote","url":"x"}', verify: true, create: false },
          NEVER,
        ),
      ),
      replaceMcps: await toResult(
        request(
          dispatch,
          'replaceMcps',
          { agent: '', configs: ['{"name":"a","url":"http://[secret]@h"}'] },
          NEVER,
        ),
      ),
      policyExplain: await toResult(
        request(
          dispatch,
          'policyExplain',
          { agent: 'crab', tool: 'mcp__leaky__leak', arguments: '{}' },
          NEVER,
        ),
      ),
      getStats: await toResult(request(dispatch, 'getStats', {}, NEVER)),
    }
    if (door === 'socket') assert.match(JSON.stringify(all.createAgent), /no stored value to keep/)
    for (const [operation, answer] of Object.entries(all))
      answers.push([`${door} ${operation}`, JSON.stringify(answer)])
  }
  return answers
}

/** Returns the answer, or the error as an object. */
async function toResult(answer: Promise<object>): Promise<object> {
  return await answer.catch((reason: unknown) => {
    const { kind, message, hint } = toCrabError(reason)
    return { kind, message, hint }
  })
}

/** Returns the secrets that are in `before` and missing in `after`. */
function findLostSecrets(planted: Planted, before: string, after: string): string[] {
  const now = new Set(findSecrets(planted, after))
  return findSecrets(planted, before).filter((where) => !now.has(where))
}
