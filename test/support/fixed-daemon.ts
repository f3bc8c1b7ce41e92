import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { encodeFrame, readFrames } from '../../src/core/protocol/frame.ts'
import { decodeFixed, encodeFixed, type FixedMessage } from './fixed-wire.ts'

/** A daemon that speaks only the fixed protocol, according to its table, and does not know `hello`. */
export interface FixedDaemonServer extends AsyncDisposable {
  /** The requests that it understood, oldest first. */
  readonly requests: readonly { name: string; value: FixedMessage }[]
}

/**
 * Serves that protocol on a Unix socket. A turn answers `You said: …`; one whose message begins with `ask`
 * asks first, and then answers with the reply.
 */
export async function startFixedDaemon(path: string): Promise<FixedDaemonServer> {
  const requests: { name: string; value: FixedMessage }[] = []
  const asking: ((content: string) => void)[] = []
  const sockets = new Set<Socket>()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined) // its client hung up
    void serve(socket).catch(() => socket.destroy())
  }).listen(path)
  await once(server, 'listening')

  async function serve(socket: Socket): Promise<void> {
    const write = (reply: FixedMessage) => void socket.write(encodeFrame(encodeFixed('ServerMessage', reply)))
    for await (const payload of readFrames(socket)) {
      const request = toRequest(Buffer.from(payload))
      if (!request) {
        write({ error: { code: 400, message: 'empty client message' } })
        continue
      }
      requests.push(request)
      await answer(request, write)
    }
  }

  async function answer(
    { name, value }: { name: string; value: FixedMessage },
    write: (reply: FixedMessage) => void,
  ): Promise<void> {
    switch (name) {
      case 'stream':
        for await (const event of turn(value, asking)) write({ stream: event })
        return
      case 'reply_to_ask':
        asking.shift()?.(String(value['content']))
        return write({ pong: {} })
      case 'get_stats':
        return write({ stats: { uptime_secs: 61, registered_agents: 1, active_model: 'old' } })
      case 'list_agents':
        return write({ agent_list: { agents: [{ name: 'crab', config: '{}', model: 'old' }] } })
      case 'get_agent':
        return write({ agent_info: { name: 'crab', config: '{}', model: 'old' } })
      case 'list_conversations': {
        const rows = ['one', 'two', 'three'].map((sender) => ({ agent: 'crab', sender, file_path: sender }))
        return write({ conversation_list: { conversations: rows } })
      }
      case 'subscribe_events':
        for (const kind of [TEXT_DELTA, DONE]) write({ agent_event: { agent: 'crab', sender: 'ann', kind } })
        return
      case 'list_active_conversations':
        return write({ active_conversations: {} })
      default:
        return write({ pong: {} })
    }
  }

  return {
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const TEXT_DELTA = 0
const DONE = 5

function toRequest(payload: Buffer): { name: string; value: FixedMessage } | undefined {
  try {
    const [[name, value]] = Object.entries(decodeFixed('ClientMessage', payload)) as [[string, FixedMessage]]
    return { name, value }
  } catch {
    return undefined // an unknown request
  }
}

async function* turn(
  { agent = '', content = '' }: FixedMessage,
  asking: ((content: string) => void)[],
): AsyncGenerator<FixedMessage> {
  if (agent === '') return yield { end: { error: 'agent not found' } }
  yield { start: { agent } }
  let text = `You said: ${content}`
  if (String(content).startsWith('ask')) {
    const reply = new Promise<string>((resolve) => asking.push(resolve))
    yield { tool_start: { calls: [{ name: 'ask_user', arguments: '{}' }] } }
    yield {
      ask_user: { questions: [{ question: 'Which one?', header: 'One', options: [{ label: 'Red' }] }] },
    }
    text = await reply
    yield { tool_result: { call_id: 'a', output: text, duration_ms: 1 } }
    yield { tools_complete: {} }
  }
  yield { text_start: { agent } }
  yield { chunk: { content: text } }
  yield { text_end: { agent } }
  yield { end: { agent, model: 'old' } }
}
