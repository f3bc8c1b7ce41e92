import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import { McpPeerState } from '../../src/core/protocol/crabtalk.generated.ts'
import {
  goodAnswer,
  type Play,
  scriptedServer,
  sendEvent,
  startStream,
} from '../support/mcp/http/scripted-server.ts'
import { startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import { watchedServer } from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'

const BYTES = 20 * 2 ** 20

/** The answers of an HTTP server to calls, and the expected result: an answer, or a failure. */
const HOSTILE: Readonly<Record<string, { play: Play; said: RegExp }>> = {
  garbage: {
    play: (_, response) => isSent(response.end('<html>Bad gateway')),
    said: /"garbage": it does not speak MCP/,
  },
  twice: { play: answerTwice, said: /^x$/ },
  silent: { play: () => true, said: /"silent": it did not answer within 1 s/ },
  big: { play: answerMuch, said: /\[Cut: 20971520 bytes in all/ },
  cut: {
    play: (_, response) => isSent(response.writeHead(200, STREAM).end(': \n\n')),
    said: /"cut": its stream ended before the answer arrived/,
  },
  gone: { play: (_, response) => isSent(response.destroy()), said: /"gone": .*the connection was closed/ },
  failing: { play: (_, response) => isSent(response.writeHead(500).end()), said: /"failing".*500/ },
}

test('HTTP servers that flood, repeat themselves, are silent or send too much do not affect other servers', async (t) => {
  await using records = await recordFolder()
  await using stack = new AsyncDisposableStack()
  const entries: { name: string; url: string; timeout_ms: number }[] = []
  for (const [name, { play }] of Object.entries(HOSTILE)) {
    const server = stack.use(
      await scriptedServer({
        play: (arrival, response) => arrival.method === 'tools/call' && play(arrival, response),
      }),
    )
    entries.push({ name, url: server.url, timeout_ms: name === 'silent' ? 1_000 : 60_000 })
  }
  const calm = watchedServer(records.path, {}, { name: 'calm', isPlain: true })
  await using node = await startMcpDaemon({ crab: [calm.entry, ...entries] })
  const outcomes = await Promise.all(
    Object.keys(HOSTILE).map((name) =>
      node.call(name, 'echo', { text: 'x' }).then(
        ({ output }) => output,
        (reason: unknown) => reason,
      ),
    ),
  )
  for (const [at, [name, { said }]] of Object.entries(HOSTILE).entries()) {
    const outcome = outcomes[at]
    const words = outcome instanceof CrabError ? outcome.message : String(outcome)
    assert.match(words, said, name)
    t.diagnostic(`| ${name} | ${words.slice(-160).replaceAll(/\s+/g, ' ')} |`)
  }
  const [path = ''] = /\/\S*cache\/output\/[^\s\]]+/.exec(String(outcomes[3])) ?? []
  assert.equal((await stat(path)).size, BYTES)
  assert.equal((await node.call('calm', 'echo', { text: 'still here' })).output, 'still here')
  const { state, starts } = await node.peer('calm')
  assert.deepEqual([state, starts], [McpPeerState.CONNECTED, 1])
})

const STREAM = { 'content-type': 'text/event-stream' }

/** The effect of a play that has sent its answer itself. */
function isSent(_response: unknown): true {
  return true
}

function answerTwice(arrival: Parameters<Play>[0], response: Parameters<Play>[1]): true {
  startStream(response)
  for (const _ of [1, 2]) sendEvent(response, goodAnswer(arrival))
  return isSent(response.end())
}

function answerMuch({ id }: Parameters<Play>[0], response: Parameters<Play>[1]): true {
  const result = { content: [{ type: 'text', text: 'x'.repeat(BYTES) }] }
  response.writeHead(200, { 'content-type': 'application/json' })
  return isSent(response.end(JSON.stringify({ jsonrpc: '2.0', id, result })))
}
