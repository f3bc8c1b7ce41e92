import { posix } from 'node:path'
import { sha256 } from '../base/sha256.ts'
import type { SocketEndpoint } from './endpoint.ts'

/** Where the daemon of a home is found by programs on the same machine. */
export interface LocalEndpoint {
  endpoint: SocketEndpoint
  /** Names the socket when it is not in the home: the server writes it, see `readAddress()`. */
  addressFile?: string
}

/** What the place depends on. */
interface EndpointContext {
  /** The `run` folder of the home, absolute. */
  run: string
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  /** Of the user; ignored on Windows. */
  uid: number
  tmpDir: string
}

/** A socket's path is at most 107 bytes on Linux, 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100

/**
 * The Unix socket of a home, in its `run` folder; `crabtalk-<uid>-<hash>.sock` in $XDG_RUNTIME_DIR or the temporary
 * directory when that path has more than 100 bytes; a named pipe on Windows. The hash is of the `run` path.
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
