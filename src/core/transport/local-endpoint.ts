import { posix } from 'node:path'
import { sha256 } from '../base/sha256.ts'
import type { SocketEndpoint } from './endpoint.ts'

/** The endpoint at which programs on the same machine find the daemon of a home. */
export interface LocalEndpoint {
  endpoint: SocketEndpoint
  /** The file that names a socket outside the home: the server writes it, see `readAddressFile()`. */
  addressFile?: string
}

/** The facts that determine the endpoint. */
interface EndpointContext {
  /** The `run` folder of the home, absolute. */
  run: string
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  /** The user's id; ignored on Windows. */
  uid: number
  tmpDir: string
}

/** Below the system limits, which are 107 bytes on Linux and 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100

/**
 * Returns the Unix socket in the `run` folder of a home; `crabtalk-<uid>-<hash>.sock` in $XDG_RUNTIME_DIR or
 * the temporary directory when that path is longer than 100 bytes; a named pipe on Windows. The hash is that
 * of the `run` path.
 */
export function daemonSocketEndpoint({ run, env, platform, uid, tmpDir }: EndpointContext): LocalEndpoint {
  if (platform === 'win32') {
    return { endpoint: { kind: 'pipe', path: `\\\\.\\pipe\\crabtalk-${shortHash(run.toLowerCase())}` } }
  }
  const path = posix.join(run, 'crabtalk.sock')
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { endpoint: { kind: 'unix', path } }
  const outside = posix.join(env['XDG_RUNTIME_DIR'] || tmpDir, `crabtalk-${uid}-${shortHash(run)}.sock`)
  return { endpoint: { kind: 'unix', path: outside }, addressFile: posix.join(run, 'crabtalk.addr') }
}

function shortHash(text: string): string {
  return sha256(text).toString('hex').slice(0, 16)
}
