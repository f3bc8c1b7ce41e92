import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { programFile } from '../programs.ts'

/** A small MCP server over Streamable HTTP, as a process of the test. Disposing kills it. */
export interface HttpServer extends AsyncDisposable {
  /** The URL, which stays the same across restarts. */
  readonly url: string
  readonly pid: number
  /** Returns the requests it has received, across all restarts. */
  requests(): HttpRequest[]
  /** Kills it with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Restarts it on the same port, without its sessions. */
  revive(): Promise<void>
}

/** One request to it. */
export interface HttpRequest {
  /** The method of the message, or the HTTP verb when there is no message. */
  method: string
  /** The tool of a call. */
  tool?: string
  /** The `authorization` header; empty without one. */
  auth: string
  session: string
}

/** Starts a server whose record is in this folder. */
export async function startHttpServer(folder: string): Promise<HttpServer> {
  const record = join(folder, `${randomUUID()}.requests`)
  let { child, port } = await start(record, 0)
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    get pid() {
      return child.pid!
    },
    requests: () => readRecords(record).map((line) => JSON.parse(line) as HttpRequest),
    kill,
    async revive() {
      await kill()
      ;({ child, port } = await start(record, port))
    },
    [Symbol.asyncDispose]: kill,
  }
}

async function start(record: string, port: number): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [SCRIPT, `--record=${record}`, `--port=${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(child.stdout, 'data')
  return { child, port: Number(said) }
}

function readRecords(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch {
    return [] // nothing has been recorded yet
  }
}

const SCRIPT = programFile(join(import.meta.dirname, 'plain-http-server.ts'))
