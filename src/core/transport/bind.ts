import type { ListenOptions as Place, Server } from 'node:net'
import { CrabError } from '../base/errors.ts'
import { toStorageError } from '../base/files.ts'
import { getErrorCode } from '../base/system-error.ts'
import { freePath, removeAddress, writeAddress } from './address-file.ts'
import { formatEndpoint, type SocketEndpoint } from './endpoint.ts'
import { claimSocket } from './socket-file.ts'

/** A server that is listening. */
export interface BoundServer {
  /** The endpoint, with the port that the system chose. */
  endpoint: SocketEndpoint
  /** Removes the files that were created for it. */
  release(): Promise<void>
}

/**
 * Makes a server listen on an endpoint. Throws `conflict` when another server does, or a file of another kind
 * is in the way.
 */
export async function bind(
  server: Server,
  endpoint: SocketEndpoint,
  addressFile?: string,
): Promise<BoundServer> {
  if (endpoint.kind === 'unix') return await bindUnix(server, endpoint, addressFile)
  if (endpoint.kind === 'pipe') return await bindPipe(server, endpoint)
  return await bindTcp(server, endpoint)
}

async function bindUnix(
  server: Server,
  endpoint: SocketEndpoint & { kind: 'unix' },
  addressFile: string | undefined,
): Promise<BoundServer> {
  try {
    const path = addressFile === undefined ? endpoint.path : await freePath(endpoint.path, addressFile)
    const removeSocket = await claimSocket(path, (temporary) => startListening(server, { path: temporary }))
    const bound: SocketEndpoint = { kind: 'unix', path }
    if (addressFile === undefined) return { endpoint: bound, release: removeSocket }
    await writeAddress(addressFile, path)
    const release = async () => {
      await removeAddress(addressFile, path)
      await removeSocket()
    }
    return { endpoint: bound, release }
  } catch (reason) {
    throw toStorageError(`Cannot listen on ${formatEndpoint(endpoint)}`, reason)
  }
}

async function bindPipe(server: Server, endpoint: SocketEndpoint & { kind: 'pipe' }): Promise<BoundServer> {
  try {
    await startListening(server, { path: endpoint.path })
    return { endpoint, release: async () => {} }
  } catch (reason) {
    if (getErrorCode(reason) !== 'EADDRINUSE') {
      throw toStorageError(`Cannot listen on ${formatEndpoint(endpoint)}`, reason)
    }
    throw new CrabError(
      'conflict',
      `Cannot listen on ${formatEndpoint(endpoint)}: another daemon is listening there`,
    )
  }
}

async function bindTcp(
  server: Server,
  { host, port }: SocketEndpoint & { kind: 'tcp' },
): Promise<BoundServer> {
  try {
    await startListening(server, { host, port, exclusive: true })
  } catch (cause) {
    throw toTcpError(formatEndpoint({ kind: 'tcp', host, port }), port, cause)
  }
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return { endpoint: { kind: 'tcp', host, port: bound }, release: async () => {} }
}

function toTcpError(place: string, port: number, cause: unknown): CrabError {
  const what = `Cannot listen on ${place}`
  const options = { cause, hint: 'choose another with --port, or a free one with --port 0' }
  if (getErrorCode(cause) === 'EADDRINUSE') {
    return new CrabError('conflict', `${what}: port ${port} is in use`, options)
  }
  const why = getErrorCode(cause) === 'EACCES' ? `port ${port} is for root only` : (cause as Error).message
  return new CrabError('config', `${what}: ${why}`, options)
}

/**
 * The length of the queue of connections to accept: a Unix socket refuses clients when it is full. The system
 * may allow fewer.
 */
const BACKLOG = 4096

async function startListening(server: Server, place: Place): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).once('listening', resolve)
  server.listen({ ...place, backlog: BACKLOG })
  try {
    await promise
  } finally {
    server.off('error', reject).off('listening', resolve)
  }
}
