import type { Socket } from 'node:net'
import { decodeMessage } from '../../src/core/protocol/codec.ts'
import { ClientMessage, ServerMessage } from '../../src/core/protocol/crabtalk.generated.ts'
import { encodeFrame, readFrames } from '../../src/core/protocol/frame.ts'
import { connectEndpoint } from '../../src/core/transport/connect.ts'
import type { SocketEndpoint } from '../../src/core/transport/endpoint.ts'

/** The actions of one hostile client. */
export interface Attack {
  bytes: Uint8Array
  /** The offsets at which the bytes are split into writes. */
  cuts: number[]
  goodbye: 'halfClose' | 'hangUp' | 'reset' | 'readThenLeave'
  /** The number of valid pings before the bytes; each must be answered. */
  pings: number
}

const FIRST_ID = 4_000_000_000
const ANSWER_MS = 20_000

/** Runs one hostile client. Throws when a valid request gets a wrong reply. */
export async function attack(
  peer: { endpoint: SocketEndpoint; token?: string },
  plan: Attack,
): Promise<void> {
  const socket = await connectEndpoint(peer.endpoint, AbortSignal.timeout(ANSWER_MS))
  const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), ANSWER_MS)
  const replies = readFrames(socket.iterator({ destroyOnReturn: false }))
  try {
    if (peer.token) await ask(socket, replies, { $case: 'auth', value: { token: peer.token } }, FIRST_ID)
    for (let id = FIRST_ID + 1; id <= FIRST_ID + plan.pings; id += 1) {
      await ask(socket, replies, { $case: 'ping', value: {} }, id)
    }
    let from = 0
    for (const end of [...plan.cuts, plan.bytes.length]) {
      socket.write(plan.bytes.subarray(from, end))
      await new Promise(setImmediate)
      from = end
    }
    if (plan.goodbye === 'halfClose') socket.end()
    if (plan.goodbye === 'reset' && peer.endpoint.kind === 'tcp') socket.resetAndDestroy()
    if (plan.goodbye === 'readThenLeave') await new Promise((resolve) => setTimeout(resolve, 5))
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

async function ask(
  socket: Socket,
  replies: AsyncGenerator<Uint8Array>,
  msg: NonNullable<ClientMessage['msg']>,
  requestId: number,
): Promise<void> {
  socket.write(encodeFrame(ClientMessage.encode({ requestId, msg }).finish()))
  const { value } = await replies.next()
  const reply = value && decodeMessage(ServerMessage, value)
  if (reply?.requestId === requestId && reply.msg?.$case === 'pong') return
  throw new Error(`${msg.$case} ${requestId} is answered by ${reply ? JSON.stringify(reply) : 'nothing'}`)
}
