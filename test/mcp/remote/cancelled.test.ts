import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRemoteLink } from '../../../src/mcp/remote/remote-link.ts'
import { scriptedServer } from '../../support/mcp/http/scripted-server.ts'
import { mcpNode, NEVER } from '../mcp-node.ts'

test('a request over HTTP that is cancelled before it is sent never reaches its server', async () => {
  await using server = await scriptedServer({ modern: true })
  await using node = await mcpNode()
  const link = await openRemoteLink(
    {
      target: { transport: 'http', url: server.url, headers: {}, auth: undefined, authHelper: undefined },
      protocol: 'http',
      processes: node.processes,
      cwd: node.folder,
      helper: undefined,
      patienceMs: () => 10_000,
      now: Date.now,
      note: () => {},
    },
    NEVER,
  )
  const { transport } = link
  await transport.start()
  const requestSignal = AbortSignal.abort()
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } } as const
  await assert.rejects(transport.send(call, { requestSignal }), { kind: 'cancelled' })
  await transport.send({ jsonrpc: '2.0', id: 2, method: 'ping' })
  assert.deepEqual(
    server.arrivals.map(({ method }) => method),
    ['ping'],
  )
  await link.close()
})
