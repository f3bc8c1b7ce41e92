import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import type { StdioEntry } from '../test/support/mcp/mcp-servers.ts'
import { listRawTools, listSentTools } from '../test/support/mcp/sent-tools.ts'

/** A server of the registry that starts without credentials, or with invented ones. */
interface PopularServer {
  name: string
  spec: string
  args?: readonly string[]
  env?: Record<string, string>
}

/** The servers whose descriptions were cut most while there was a limit of 1 KiB. */
const SERVERS: readonly PopularServer[] = [
  { name: 'thinking', spec: '@modelcontextprotocol/server-sequential-thinking@2026.8.31' },
  { name: 'commander', spec: '@wonderwhy-er/desktop-commander@0.2.52', args: ['--no-onboarding'] },
  { name: 'context7', spec: '@upstash/context7-mcp@4.1.1' },
  { name: 'firecrawl', spec: 'firecrawl-mcp@3.26.0', env: { FIRECRAWL_API_KEY: 'fc-none' } },
  { name: 'shopify', spec: '@shopify/dev-mcp@1.16.0', env: { OPT_OUT_INSTRUMENTATION: 'true' } },
  { name: 'playwright', spec: '@playwright/mcp@0.0.83', args: ['--headless', '--isolated'] },
]

const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'crab-descriptions-'))
try {
  const options = ['--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder]
  await run('npm', ['install', ...options, ...SERVERS.map(({ spec }) => spec)])
  for (const server of SERVERS) await compare(server)
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Compares one server and prints a line; a difference sets the exit code. */
async function compare({ name, spec, args = [], env }: PopularServer): Promise<void> {
  const script = await findScript(spec.replace(/(?!^)@[^@/]*$/, ''))
  const entry: StdioEntry = {
    ...{ name, command: process.execPath, args: [script, ...args] },
    env: { HOME: folder, ...env },
  }
  const raw = await listRawTools(entry)
  const sent = await listSentTools(entry, [...raw.keys()])
  const differing = [...raw].filter(([tool, definition]) => !isDeepStrictEqual(sent.get(tool), definition))
  const lengths = [...raw.values()].map(({ description }) => description.length)
  const sum = lengths.reduce((total, length) => total + length, 0)
  const sizes = `${raw.size} tools, ${sum} characters of descriptions, the longest ${Math.max(...lengths)}`
  const verdict =
    differing.length === 0 ? 'the same' : `different: ${differing.map(([tool]) => tool).join(', ')}`
  console.log(`${spec}: ${sizes}: ${verdict}`)
  if (differing.length > 0) process.exitCode = 1
}

/** Returns the program of an installed package. */
async function findScript(packageName: string): Promise<string> {
  const manifest = join(folder, 'node_modules', packageName, 'package.json')
  const { bin } = JSON.parse(await readFile(manifest, 'utf8'))
  return join(dirname(manifest), typeof bin === 'string' ? bin : String(Object.values(bin)[0]))
}
