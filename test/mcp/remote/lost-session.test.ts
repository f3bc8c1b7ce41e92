import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRemoteLink } from '../../../src/mcp/remote/remote-link.ts'
import { scriptedServer } from '../../support/mcp/http/scripted-server.ts'
import { mcpNode, NEVER } from '../mcp-node.ts'

test('a server that forgot its session and does not answer is given up in time, with a reason', async () => {
  await using server = await scriptedServer({
    play: ({ method, before }) => method === 'initialize' && before > 0,
  })
  await using node = await mcpNode()
  const words: string[] = []
  const link = await openRemoteLink(
    {
      target: { transport: 'http', url: server.url, headers: {}, auth: undefined, authHelper: undefined },
      ...{ protocol: 'http', processes: node.processes, cwd: node.folder, helper: undefined, now: Date.now },
      patienceMs: () => 300,
      note: (line) => words.push(line),
    },
    NEVER,
  )
  const { transport } = link
  await transport.start()
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  }
  await transport.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  transport.setProtocolVersion?.('2025-11-25')
  server.forget()
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } } as const
  const why = 'it lost its session and does not open another: it did not answer within 0.3 s'
  await assert.rejects(transport.send(call), { kind: 'unavailable', message: why })
  assert.deepEqual([words, await link.ended], [[why], why])
  await link.close()
})
