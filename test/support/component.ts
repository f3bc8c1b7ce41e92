import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type HttpServer, startHttpServer } from './mcp/http-server.ts'

/** A program that announces itself by a port file (ADR 0117). Disposing kills it; its file stays. */
export interface TestComponent extends AsyncDisposable {
  readonly server: HttpServer
  /** Kills it and starts another one at another port. */
  move(): Promise<void>
  /** Kills it; its port file stays. */
  kill(): Promise<void>
  /** Removes its port file. */
  withdraw(): Promise<void>
}

/** Starts a component with the tools of plain-server.ts; the requests it receives are recorded in `records`. */
export async function startComponent(run: string, name: string, records: string): Promise<TestComponent> {
  const file = join(run, `${name}.port`)
  let server = await startHttpServer(records)
  const announce = () => writeFile(file, `${new URL(server.url).port}\n`)
  await mkdir(run, { recursive: true, mode: 0o700 })
  await announce()
  return {
    get server() {
      return server
    },
    async move() {
      await server.kill()
      server = await startHttpServer(records)
      await announce()
    },
    kill: () => server.kill(),
    withdraw: () => rm(file),
    [Symbol.asyncDispose]: () => server.kill(),
  }
}

/** Returns a port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
