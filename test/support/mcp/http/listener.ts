import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'

/** An HTTP server in this process, on 127.0.0.1. */
export interface Listener extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string
  /** Closes all connections; resolves when it has stopped listening. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  restart(): Promise<void>
}

/** Listens on a free port, with TLS if a certificate is given. */
export async function listen(serve: RequestListener, tls?: ServerOptions): Promise<Listener> {
  let server = await open(0)
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  function open(wanted: number): Promise<Server> {
    const one = tls ? createSecureServer(tls, serve) : createServer(serve)
    return new Promise((resolve, reject) => {
      one.once('error', reject)
      one.listen(wanted, '127.0.0.1', () => resolve(one))
    })
  }
  return {
    port,
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    stop,
    async restart() {
      await stop()
      server = await open(port)
    },
    [Symbol.asyncDispose]: stop,
  }
}
