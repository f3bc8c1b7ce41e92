import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { makeHome, writeCaller } from '../scripts/sea/scenarios.ts'
import type { Program } from './harness.ts'
import { mcpServer } from './mcp.ts'
import type { Peer } from './peers.ts'
import type { Column, Line } from './table.ts'

/** The environment of all suites. */
export interface Setting extends AsyncDisposable {
  /** The path of the built binary. */
  binary: string
  rounds: number
  /** The maximum number of messages that are searched. */
  messages: number
  /** An empty folder to run in. */
  cwd: string
  /** A folder for other files. */
  scratch: string
  /** The environment variables of a home that is configured for the model server. */
  env: Readonly<Record<string, string>>
  model: Model
  peers: readonly Peer[]
}

/** The table of a suite. */
export interface SuiteResult {
  columns: readonly Column[]
  lines: readonly Line[]
  /** Further tables of the same suite. */
  also?: Readonly<Record<string, SuiteResult>>
}

/** Runs the measurements of a suite and returns its table. */
export type Suite = (setting: Setting) => Promise<SuiteResult>

/** A running model server. Disposing ends it. */
export interface Model extends Disposable {
  url: string
  /** Resolves with the size of the next request's body. */
  nextRequest(): Promise<number>
}

/** Creates a home and starts a model server; `findPeers` creates the homes of other programs. */
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
  await writeCaller(home, 'everything', mcpServer())
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

/**
 * Drops the binary's pages from the page cache: a binary that was just written starts faster and uses more
 * memory than one read from disk.
 */
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

/** Returns the programs that are installed; `curl` may be missing. */
export function installed<P extends Program>(programs: readonly P[]): P[] {
  return programs.filter(({ command }) => {
    try {
      execFileSync(command, ['--version'], { stdio: 'ignore' })
      return true
    } catch {
      return false // its line is then left out
    }
  })
}
