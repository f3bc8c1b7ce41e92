import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { StreamEvent } from '../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../src/core/transport/client.ts'
import type { SocketEndpoint } from '../src/core/transport/endpoint.ts'
import { listen } from '../src/core/transport/listen.ts'
import { type Attack, attack } from './fuzz/attack.ts'
import { generator, hostileBytes } from './fuzz/hostile-bytes.ts'

// Sends random bytes and damaged frames to a daemon for a while, with valid requests in between:
//   npm run fuzz:wire -- [unix:PATH | tcp:HOST:PORT] [--binary FILE] [--seconds N] [--seed N] [--token T]
// Without an endpoint it starts `FILE daemon run` in a temporary home, or serves the transport in this process.
// Never use a daemon that matters: a damaged frame can be a valid request to delete something.

/** A daemon or transport to attack. */
interface Target extends AsyncDisposable {
  endpoint: SocketEndpoint
  /** Returns the number of connections it holds open; undefined where that cannot be determined. */
  openConnections?: () => number
  /** Returns why it died; undefined while it is alive. */
  death: () => string | undefined
}

const CLIENTS_PER_ROUND = 24
const ANSWER_MS = 20_000
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    token: { type: 'string' },
  },
})
process.exitCode = await fuzz()

async function fuzz(): Promise<number> {
  await using target = await chooseTarget()
  const peer = { endpoint: target.endpoint, ...(values.token && { token: values.token }) }
  const dispatch = socketDispatch(peer)
  const random = generator(Number(values.seed))
  const failures: string[] = []
  const deadline = performance.now() + 1000 * Number(values.seconds)
  let attacks = 0
  let bytes = 0
  while (performance.now() < deadline && failures.length === 0) {
    const round: Attack[] = Array.from({ length: CLIENTS_PER_ROUND }, () => hostileBytes(random))
    const answers = await Promise.allSettled([
      ...round.map((one) => attack(peer, one)),
      request(dispatch, 'ping', {}, AbortSignal.timeout(ANSWER_MS)),
    ])
    attacks += round.length
    bytes += round.reduce((sum, one) => sum + one.bytes.length, 0)
    failures.push(
      ...answers.flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : [])),
    )
    const death = target.death()
    if (death !== undefined) failures.push(death)
  }
  if (failures.length === 0 && !(await isSettled(target))) {
    failures.push(`${target.openConnections?.()} connections are still open`)
  }
  for (const failure of failures) console.error(`fuzz: ${failure}`)
  const verdict = failures.length === 0 ? 'ok' : `${failures.length} failures`
  console.log(`fuzz: ${attacks} connections, ${bytes} hostile bytes, seed ${values.seed}: ${verdict}`)
  return failures.length === 0 ? 0 : 1
}

async function chooseTarget(): Promise<Target> {
  const [, kind, place] = positionals[0]?.match(/^(unix|tcp):(.+)$/) ?? []
  if (kind === 'unix') return externalTarget({ kind, path: place! })
  if (kind === 'tcp') {
    const [, host, port] = place!.match(/^\[?(.+?)\]?:(\d+)$/)!
    return externalTarget({ kind, host: host!, port: Number(port) })
  }
  if (positionals.length > 0)
    throw new Error(`Cannot use ${positionals[0]}: it is not unix:PATH or tcp:HOST:PORT`)
  return values.binary === undefined ? await serveInProcess() : await startBinary(values.binary)
}

function externalTarget(endpoint: SocketEndpoint): Target {
  return { endpoint, death: () => undefined, [Symbol.asyncDispose]: async () => {} }
}

async function serveInProcess(): Promise<Target> {
  const home = mkdtempSync(join(tmpdir(), 'crab-fuzz-'))
  let failure: string | undefined
  const dispatch = route({
    ping: async () => {},
    extension: async (bytes) => bytes,
    async *stream({ content }) {
      for (const letter of content)
        yield StreamEvent.create({ event: { $case: 'chunk', value: { content: letter } } })
      yield StreamEvent.create({ event: { $case: 'end', value: { agent: 'crab' } } })
    },
  })
  const onError = (error: Error) => {
    failure = error.message
  }
  const listener = await listen({ kind: 'unix', path: join(home, 'sock') }, { dispatch, graceMs: 0, onError })
  return {
    endpoint: listener.endpoint,
    openConnections: () => listener.connections,
    death: () => failure,
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]()
      rmSync(home, { recursive: true })
    },
  }
}

async function startBinary(binary: string): Promise<Target> {
  const home = mkdtempSync(join(tmpdir(), 'crab-fuzz-'))
  const env = { PATH: process.env['PATH'], HOME: home, CRABTALK_HOME: join(home, 'crab') }
  const daemon = spawn(binary, ['daemon', 'run'], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = once(daemon, 'exit')
  const path = join(home, 'crab', 'run', 'crabtalk.sock')
  const death = () =>
    daemon.exitCode === null && daemon.signalCode === null
      ? undefined
      : `the daemon died: ${daemon.signalCode ?? `exit ${daemon.exitCode}`}`
  while (!existsSync(path) && death() === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
  const before = countSockets(daemon.pid!)
  return {
    endpoint: { kind: 'unix', path },
    openConnections: () => countSockets(daemon.pid!) - before,
    death,
    async [Symbol.asyncDispose]() {
      daemon.kill('SIGTERM')
      if (death() === undefined) await exited
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Counts the open sockets of a process; 0 where there is no /proc. */
function countSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`
  if (!existsSync(folder)) return 0
  return readdirSync(folder).filter((fd) => isSocket(join(folder, fd))).length
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:')
  } catch {
    return false // closed meanwhile
  }
}

async function isSettled({ openConnections }: Target): Promise<boolean> {
  const deadline = performance.now() + 10_000
  while ((openConnections?.() ?? 0) > 0) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}
