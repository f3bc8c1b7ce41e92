import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeMessage } from '../../../src/core/protocol/codec.ts'
import { ClientMessage, ServerMessage } from '../../../src/core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../../../src/core/protocol/dispatch.ts'
import { type EndpointKind, serve } from './serving.ts'

const vectors = readFileSync(join(import.meta.dirname, '../protocol/fixtures/wire-vectors.txt'), 'utf8')
  .split('\n')
  .filter((line) => /^[CS] /.test(line))
  .map((line) => line.match(/^(?<side>[CS]) (?<label>.+) \| (?<hex>[0-9a-f]+)$/)!.groups!)
const requests = vectors.filter(({ side }) => side === 'C').map(({ hex }) => hex!)
const replies = vectors.filter(({ side }) => side === 'S').map(({ hex }) => hex!)

for (const kind of ['unix', 'tcp', 'pipe'] satisfies EndpointKind[]) {
  for (const chunkBytes of [1, 2, 3, 7, Number.POSITIVE_INFINITY]) {
    test(`every golden request arrives over ${kind}, written ${chunkBytes} bytes at a time`, async () => {
      const arrived: string[] = []
      const dispatch: Dispatch = async function* (message) {
        arrived.push(toHex(ClientMessage.encode(message).finish()))
        yield refusal
      }
      await using serving = await serve(kind, dispatch)
      using client = await serving.open()
      const bytes = Buffer.from(requests.join(''), 'hex')
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        const chunk = bytes.subarray(at, at + chunkBytes)
        await new Promise((resolve) => client.socket.write(chunk, resolve))
      }
      for (const _ of requests) assert.equal((await client.reply())?.msg?.$case, 'error')
      assert.deepEqual(arrived, requests)
    })
  }

  test(`every golden reply leaves over ${kind} as its frame`, async () => {
    const messages = replies.map((hex) => decodeMessage(ServerMessage, Buffer.from(hex.slice(8), 'hex')))
    let next = 0
    const dispatch: Dispatch = async function* () {
      yield messages[next++]!
    }
    await using serving = await serve(kind, dispatch)
    for (const hex of replies) {
      using client = await serving.open()
      client.send(0, { $case: 'ping', value: {} })
      client.halfClose()
      assert.equal(toHex((await client.payload())!), hex)
    }
  })
}

const refusal = ServerMessage.create({ msg: { $case: 'error', value: { code: 404 } } })

function toHex(payload: Uint8Array): string {
  const header = Buffer.alloc(4)
  header.writeUInt32BE(payload.length)
  return Buffer.concat([header, payload]).toString('hex')
}
