import { streamTurn } from '../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../src/core/transport/client.ts'
import { readCrowd } from './crowd.ts'

// A standalone program, `crowd-daemon.ts SOCKET COUNT CHUNKS CONTENT NAME`: runs COUNT concurrent turns of
// one daemon, each from a client of its own in a conversation of its own. The senders are NAME followed by a
// number.
const [path = '', count = '', chunks = '', content = '', name = ''] = process.argv.slice(2)
const dispatch = socketDispatch({ endpoint: { kind: 'unix', path } })
const { signal } = new AbortController()
const result = await readCrowd({ count: Number(count), chunks: Number(chunks) }, async (stream, index) => {
  const message = { agent: 'crab', sender: `${name}${index}`, content }
  for await (const { event } of streamTurn(dispatch, message, signal)) {
    if (event?.$case === 'chunk') stream.take(event.value.content)
    if (event?.$case === 'end' && event.value.error !== '') throw new Error(event.value.error)
  }
})
console.log(JSON.stringify(result))
