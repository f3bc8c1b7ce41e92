import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtempDisposable, stat, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { stringify } from 'smol-toml'
import { makeHome } from '../scripts/sea/scenarios.ts'
import { interleave } from './harness.ts'
import { type BenchRow, MCP_AGENT, makeRows, mcpServer } from './rows.ts'
import { toTable } from './table.ts'

// npm run bench -- [--rounds N] [--binary FILE]
// Start-up and one-shot figures of the built binary beside floors of the same run; also as bench/results/latest.json.
const MAX_BINARY_MB = 125
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    binary: { type: 'string', default: 'dist/crabtalk' },
  },
})
await bench(resolve(options.binary), Number(options.rounds))

async function bench(binary: string, rounds: number): Promise<void> {
  if (!existsSync(binary)) throw new Error(`Cannot measure ${binary}: build it first (npm run build)`)
  settle(binary)
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  using model = await startModel()
  const env = await makeHome(join(dir.path, 'home'), model.url)
  await addAgent(join(dir.path, 'home'))
  const rows = makeRows(binary, model.url, env).filter(({ command }) => isInstalled(command))
  const requestBytes = await measureRequests(rows, model, dir.path)
  const figures = await interleave(rows, { rounds, cwd: dir.path })
  const lines = rows.map(({ name, marks }) => ({
    name,
    figures: figures.get(name)!,
    marks,
    requestBytes: requestBytes.get(name),
  }))
  const binaryMb = (await stat(binary)).size / 1e6
  console.log(toTable(lines))
  console.log(
    `\nbinary: ${binaryMb.toFixed(1)} MB ${binaryMb <= MAX_BINARY_MB ? '✓ ≤' : '✗ >'} ${MAX_BINARY_MB}`,
  )
  await save({
    date: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model,
    binaryMb,
    lines,
  })
}

/** A binary just written starts faster and holds more memory than one that was read from disk: makes it the latter. */
function settle(binary: string): void {
  try {
    execFileSync('dd', [`of=${binary}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none'])
  } catch (reason) {
    console.error(`crabtalk: warning: figures of a binary just built are not settled: ${reason}`)
  }
}

/** An agent with one MCP server, all of whose tools it may call. */
async function addAgent(home: string): Promise<void> {
  const [command, ...args] = mcpServer()
  const entry = { name: 'everything', command, args, permissions: { allow: ['*'] } }
  const agents = join(home, 'agents')
  await mkdir(agents, { recursive: true })
  await writeFile(join(agents, `${MCP_AGENT}.toml`), stringify({ mcps: [entry] }))
  await writeFile(join(agents, `${MCP_AGENT}.md`), 'You call tools.\n')
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false // then its row is left out
  }
}

interface Model extends Disposable {
  url: string
  /** Resolves with the size of the next request's body. */
  nextRequest(): Promise<number>
}

async function startModel(): Promise<Model> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'model.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)
  const nextLine = async () => String((await once(lines, 'line'))[0])
  return {
    url: await nextLine(),
    nextRequest: async () => Number(await nextLine()),
    [Symbol.dispose]: () => child.stdin.end(),
  }
}

async function measureRequests(
  rows: readonly BenchRow[],
  model: Model,
  cwd: string,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for (const row of rows.filter(({ asksModel }) => asksModel)) {
    const size = model.nextRequest()
    await interleave([row], { rounds: 1, cwd })
    sizes.set(row.name, await size)
  }
  return sizes
}

async function save(results: object): Promise<void> {
  const path = join(import.meta.dirname, 'results/latest.json')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${JSON.stringify(results, undefined, 2)}\n`)
}
