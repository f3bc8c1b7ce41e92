import { inspect } from 'node:util'
import { openProcessHost } from '../../src/core/process/process-host.ts'
import { connectServer } from '../../src/mcp/connection/connect.ts'
import { nodeFetch } from '../../src/mcp/remote/node-fetch.ts'
import { openRemoteLink } from '../../src/mcp/remote/remote-link.ts'
import { withLogin } from './oauth.ts'
import { act, type Setting } from './scenarios.ts'

// The client that the conformance suite starts, with the address of a server as its last argument. It does what
// src/mcp does for a declared server, for the length of one connection. It exits with 1 when something failed,
// which some scenarios require.
const PATIENCE_MS = 10_000
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env
process.exitCode = await run(String(process.argv.at(-1)), JSON.parse(context))

async function run(url: string, setting: Setting): Promise<number> {
  await using processes = openProcessHost({ pid: process.pid })
  const signal = new AbortController().signal
  const logsIn = scenario.startsWith('auth/')
  const link = {
    target: { transport: 'http', url, headers: {}, auth: undefined, authHelper: undefined },
    protocol: 'http',
    processes,
    cwd: import.meta.dirname,
    helper: undefined,
    patienceMs: () => PATIENCE_MS,
    now: Date.now,
    note: () => {},
    fetch: (isLeaving: () => boolean) =>
      logsIn ? withLogin(nodeFetch(isLeaving), url, setting) : nodeFetch(isLeaving),
  } as const
  try {
    const connection = await connectServer(
      {
        open: (_, stop) => openRemoteLink(link, stop),
        era: undefined,
        startupMs: PATIENCE_MS,
        probeMs: PATIENCE_MS / 2,
        needed: Promise.resolve(),
        onToolsChanged: () => {},
        onSilentExit: () => {},
      },
      signal,
    )
    await act(scenario, setting, connection, signal).finally(() => connection.close())
    return 0
  } catch (reason) {
    process.stderr.write(`${inspect(reason)}\n`)
    return 1
  }
}
