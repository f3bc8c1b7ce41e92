import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stringify } from 'smol-toml'
import { makeHome } from '../scripts/sea/scenarios.ts'
import type { Program } from './harness.ts'
import { mcpServer } from './mcp.ts'
import type { Peer } from './peers.ts'
import type { Column, Line } from './table.ts'

/** What every suite measures with. */
export interface Setting extends AsyncDisposable {
  /** The built binary. */
  binary: string
  rounds: number
  /** The most messages that are searched. */
  messages: number
  /** An empty folder to run in. */
  cwd: string
  /** A folder for whatever else is needed. */
  scratch: string
  /** The environment of a home that knows the models. */
  env: Readonly<Record<string, string>>
  model: Model
  peers: readonly Peer[]
}

/** One table. */
export interface SuiteResult {
  columns: readonly Column[]
  lines: readonly Line[]
  /** More tables of the same suite. */
  also?: Readonly<Record<string, SuiteResult>>
}

/** A suite measures, and gives its table. */
export type Suite = (setting: Setting) => Promise<SuiteResult>

export interface Model extends Disposable {
  url: string
  /** Resolves with the size of the next request's body. */
  nextRequest(): Promise<number>
}

/** Makes a home and starts a model server; `findPeers` makes homes of their own for others. */
export async function makeSetting(
  { binary, rounds, messages }: Pick<Setting, 'binary' | 'rounds' | 'messages'>,
  findPeers: (place: { homes: string; modelUrl: string; cwd: string }) => Promise<readonly Peer[]>,
): Promise<Setting> {
  settle(binary)
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const model = await startModel()
  const [home, cwd] = [join(dir.path, 'home'), join(dir.path, 'work')]
  await mkdir(cwd)
  const env = await makeHome(home, model.url)
  await addAgent(home)
  return {
    binary,
    rounds,
    messages,
    cwd,
    scratch: dir.path,
    env,
    model,
    peers: await findPeers({ homes: join(dir.path, 'peers'), modelUrl: model.url, cwd }),
    async [Symbol.asyncDispose]() {
      model[Symbol.dispose]()
      await dir.remove()
    },
  }
}

/** The agent that has an MCP server, in the home that is measured with. */
export const MCP_AGENT = 'caller'

/** An agent with one MCP server, all of whose tools it may call. */
async function addAgent(home: string): Promise<void> {
  const [command, ...args] = mcpServer()
  const entry = { name: 'everything', command, args, permissions: { allow: ['*'] } }
  const agents = join(home, 'agents')
  await mkdir(agents, { recursive: true })
  await writeFile(join(agents, `${MCP_AGENT}.toml`), stringify({ mcps: [entry] }))
  await writeFile(join(agents, `${MCP_AGENT}.md`), 'You call tools.\n')
}

/** A binary just written starts faster and holds more memory than one that was read from disk: makes it the latter. */
function settle(binary: string): void {
  try {
    execFileSync('dd', [`of=${binary}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none'])
  } catch (reason) {
    console.error(`crabtalk: warning: figures of a binary just built are not settled: ${reason}`)
  }
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

/** Those programs that are there; `curl` need not be. */
export function installed<P extends Program>(programs: readonly P[]): P[] {
  return programs.filter(({ command }) => {
    try {
      execFileSync(command, ['--version'], { stdio: 'ignore' })
      return true
    } catch {
      return false // then its line is left out
    }
  })
}
