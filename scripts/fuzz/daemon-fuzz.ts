import { readdir } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeMessage } from '../../src/core/protocol/codec.ts'
import { ClientMessage, ServerMessage } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../src/core/protocol/dispatch.ts'
import { encodeFrame, readFrames } from '../../src/core/protocol/frame.ts'
import { REPLIES } from '../../src/core/protocol/operations.ts'
import { connectEndpoint } from '../../src/core/transport/connect.ts'
import type { SocketEndpoint } from '../../src/core/transport/endpoint.ts'
import { attack } from './attack.ts'
import { hostileBytes, type Random } from './hostile-bytes.ts'
import { randomRequest } from './random-requests.ts'

/** The daemon under attack. */
export interface FuzzedDaemon {
  pid: number
  dispatch: Dispatch
  endpoint: SocketEndpoint
  /** Strings that are meaningful to this daemon, such as names and ids. */
  words: readonly string[]
}

/** The totals of a run. */
export interface FuzzReport {
  connections: number
  requests: number
  /** Replies that are not errors. */
  answered: number
  refused: number
}

const CLIENTS_PER_ROUND = 24
const ANSWER_MS = 30_000

/**
 * Attacks a daemon for `ms` milliseconds with hostile bytes, random requests, and half-closed and slow
 * clients in parallel. Throws when it gives a wrong reply, does not answer a ping, dies, or leaks connections
 * or descriptors of clients that are gone.
 */
export async function fuzzDaemon(
  daemon: FuzzedDaemon,
  { ms, random }: { ms: number; random: Random },
): Promise<FuzzReport> {
  const report: FuzzReport = { connections: 0, requests: 0, answered: 0, refused: 0 }
  const deadline = performance.now() + ms
  let descriptors = 0
  for (let round = 0; performance.now() < deadline; round++) {
    const clients = Array.from({ length: CLIENTS_PER_ROUND }, () => client(daemon, random, report))
    await Promise.all([...clients, ping(daemon)])
    report.connections += CLIENTS_PER_ROUND
    if (round === WARM_ROUNDS) descriptors = await settledDescriptors(daemon)
  }
  const left = await settledDescriptors(daemon)
  if (descriptors > 0 && left > descriptors + MORE_DESCRIPTORS) {
    throw new Error(`The daemon has ${left} descriptors open; ${descriptors} were enough before`)
  }
  return report
}

/** The rounds after which everything that is opened once is open. */
const WARM_ROUNDS = 5
/** The allowance for connections that come and go, such as to the model server. */
const MORE_DESCRIPTORS = 8

async function client(daemon: FuzzedDaemon, random: Random, report: FuzzReport): Promise<void> {
  const kind = random(4)
  if (kind === 0) await attack({ endpoint: daemon.endpoint }, hostileBytes(random))
  else await sendRandomRequests(daemon, { random, report, isSlow: kind === 1 })
}

interface Asking {
  random: Random
  report: FuzzReport
  /** Whether it reads nothing for a while. */
  isSlow: boolean
}

/** Sends a few requests and a ping on one connection, and disconnects in one of several ways. */
async function sendRandomRequests(
  { endpoint, words }: FuzzedDaemon,
  { random, report, isSlow }: Asking,
): Promise<void> {
  const socket = await connectEndpoint(endpoint, AbortSignal.timeout(ANSWER_MS))
  try {
    const messages = Array.from({ length: 1 + random(isSlow ? 40 : 6) }, () => randomRequest(random, words))
    for (const message of messages) socket.write(toFrame(message))
    report.requests += messages.length
    if (isSlow) {
      await sleep(random(100))
      if (random(2) === 0) return
    }
    const isEnd = random(3) === 0
    socket.write(toFrame({ requestId: PING_ID, msg: { $case: 'ping', value: {} } }))
    if (isEnd) socket.end()
    await readUntilPong(socket, messages, report)
  } finally {
    socket.destroy()
  }
}

const PING_ID = 4_100_000_000

/** Reads replies up to the pong, and those that arrive shortly after it. */
async function readUntilPong(
  socket: Socket,
  messages: readonly ClientMessage[],
  report: FuzzReport,
): Promise<void> {
  let hasPong = false
  let timer = setTimeout(() => socket.destroy(new Error('a ping is not answered in time')), ANSWER_MS)
  const sent = new Map(messages.map((message) => [message.requestId, message]))
  const isUnique = sent.size === messages.length
  try {
    for await (const payload of readFrames(socket)) {
      const reply = decodeMessage(ServerMessage, payload)
      if (reply.requestId === PING_ID) {
        if (reply.msg?.$case !== 'pong') throw new Error(`A ping is answered by ${JSON.stringify(reply)}`)
        hasPong = true
        clearTimeout(timer)
        timer = setTimeout(() => socket.destroy(), LINGER_MS)
        continue
      }
      const message = sent.get(reply.requestId)
      if (!message) throw new Error(`Nobody asked for ${JSON.stringify(reply)}`)
      checkReply(message, reply, { isUnique, report })
    }
  } catch (reason) {
    if (!hasPong || !socket.destroyed || (reason as Error).message.startsWith('Nobody')) throw reason
  } finally {
    clearTimeout(timer)
  }
  if (!hasPong) throw new Error(`The daemon closed a connection on ${messages.map(({ msg }) => msg?.$case)}`)
}

/** The time to wait for replies that take longer than the pong. */
const LINGER_MS = 150

function checkReply(
  { msg: sent }: ClientMessage,
  { msg: reply }: ServerMessage,
  { isUnique, report }: { isUnique: boolean; report: FuzzReport },
): void {
  if (reply?.$case === 'error') {
    report.refused++
    const { code, message } = reply.value
    if (code === 500 && /Unexpected failure/.test(message)) {
      throw new Error(`${JSON.stringify(sent)} is answered by: ${message}`)
    }
    return
  }
  report.answered++
  if (!isUnique || reply === undefined || sent === undefined || sent.$case === 'getConfig') return
  if (reply.$case !== REPLIES[sent.$case]) throw new Error(`${sent.$case} is answered by ${reply.$case}`)
}

function toFrame(message: ClientMessage): Uint8Array {
  return encodeFrame(ClientMessage.encode(message).finish())
}

async function ping({ dispatch }: FuzzedDaemon): Promise<void> {
  await request(dispatch, 'ping', {}, AbortSignal.timeout(ANSWER_MS))
}

/** Returns the number of open descriptors once the only connection is the one that asks. */
async function settledDescriptors({ pid, dispatch }: FuzzedDaemon): Promise<number> {
  const deadline = performance.now() + ANSWER_MS
  for (;;) {
    const { connections } = await request(dispatch, 'getStats', {}, AbortSignal.timeout(ANSWER_MS))
    if (connections === 1) return (await readdir(`/proc/${pid}/fd`)).length
    if (performance.now() > deadline) throw new Error(`${connections} connections are still open`)
    await sleep(20)
  }
}
