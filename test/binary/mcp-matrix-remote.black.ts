import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkServer, type Row, toMatrix } from '../support/mcp/matrix.ts'
import { startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import { remoteServer } from '../support/mcp/real-servers.ts'
import { callOnce } from '../support/one-call.ts'
import { until } from '../support/until.ts'

test('a real HTTP server and a real SSE server connect, answer, fail, are cancelled, killed, and disconnected', async (t) => {
  await using http = await remoteServer('http')
  await using sse = await remoteServer('sse')
  const servers = [http, sse]
  const entries = servers.map(({ entry }) => entry)
  const script = callOnce(http.progress!.args)
  let rows: Row[]
  {
    await using node = await startMcpDaemon({ crab: entries, solo: entries }, { script })
    node.follow()
    rows = await Promise.all(servers.map((server) => checkServer(node, server)))
    node.daemon.kill('SIGTERM')
    assert.equal((await node.daemon.ended).code, 0)
  }
  await until('the session is ended', () => /session termination request/i.test(http.log()))
  await until('the stream is closed', () => /Client Disconnected/.test(sse.log()))
  const ends = ['session ended', 'stream closed']
  const whole = rows.map((row, at) => ({ ...row, 'host exit': ends[at]! }))
  const names = entries.map(({ name }) => name)
  for (const line of toMatrix(names, whole)) t.diagnostic(line)
})
