import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finished, RunOptions, Sandbox } from '../run-binary.ts'
import { type SandboxDaemon, startSandboxDaemon, WITH_DAEMON } from '../sandbox-daemon.ts'
import { until } from '../until.ts'
import { entriesToml, type StdioEntry } from './mcp-servers.ts'

/** Writes agents' files before anything reads them; `lines` are added to the last server of each. */
export async function writeAgents(
  box: Sandbox,
  agents: Readonly<Record<string, readonly StdioEntry[]>>,
  more = '',
): Promise<void> {
  await mkdir(join(box.home, 'agents'), { recursive: true, mode: 0o700 })
  for (const [name, entries] of Object.entries(agents)) {
    const patient = entries.map((entry) => ({ startup_timeout_ms: 60_000, ...entry }))
    await writeFile(join(box.home, 'agents', `${name}.toml`), `${entriesToml(...patient)}${more}`, {
      mode: 0o600,
    })
  }
}

/** Runs `crabtalk mcp …` through the daemon of the sandbox. */
export function mcp(box: Sandbox, words: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return box.run(['mcp', ...words], { ...options, env: { ...WITH_DAEMON, ...options.env } })
}

/** Starts a daemon and waits until `connected` of its servers are connected. */
export async function startServing(box: Sandbox, connected: number): Promise<SandboxDaemon> {
  const daemon = await startSandboxDaemon(box)
  await until(`${connected} servers are connected`, async () => {
    const rows: { state: string }[] = JSON.parse((await mcp(box, ['ps', '--json'])).stdout)
    return rows.filter(({ state }) => state === 'connected').length === connected
  })
  return daemon
}
