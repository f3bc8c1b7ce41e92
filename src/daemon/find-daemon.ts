import { lstatSync, type Stats } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { withDeadline } from '../core/base/deadline.ts'
import { CrabError } from '../core/base/errors.ts'
import { getErrorCode } from '../core/base/system-error.ts'
import { DEFAULT_AGENT } from '../core/config/default-name.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { HelloInfo } from '../core/protocol/crabtalk.generated.ts'
import { type Dispatch, requestHello } from '../core/protocol/dispatch.ts'
import type { SocketEndpoint } from '../core/transport/endpoint.ts'
import { daemonSocketEndpoint, type LocalEndpoint } from '../core/transport/local-endpoint.ts'
import type { AttachingProcess } from './attaching-process.ts'

/** A running daemon that answers requests. */
export interface FoundDaemon {
  dispatch: Dispatch
  /** The answer to `hello`, with empty fields when the daemon is older. */
  info: HelloInfo
  /**
   * The address of a daemon that serves only the fixed protocol and does not know `hello`; its dispatch
   * refuses everything else.
   */
  olderAt?: string
}

/** The home and the user whose daemon is looked up. */
export interface DaemonTarget {
  paths: HomePaths
  env: AttachingProcess['env']
  uid: number
  /** Serves requests after the daemon has gone away. */
  otherwise?: Dispatch
}

/** The protocol versions that this program speaks. */
const VERSIONS = [1]
/** The answer timeout in milliseconds: a busy daemon answers far sooner, a stopped one never. */
const ANSWER_MS = 5000

/** Returns the endpoint where the daemon of a home listens for programs on this machine. */
export function daemonEndpoint({ paths, env, uid }: DaemonTarget): LocalEndpoint {
  return daemonSocketEndpoint({ run: paths.run, env, platform: platform(), uid, tmpDir: tmpdir() })
}

/**
 * Finds the daemon of a home; undefined when none accepts connections. Where none has ever listened, that
 * costs one look at the disk.
 *
 * Fails with `timeout` when the daemon does not answer, `denied` when its socket belongs to another user,
 * `invalid` when it speaks no version that this program speaks.
 */
export async function findDaemon(at: DaemonTarget, signal: AbortSignal): Promise<FoundDaemon | undefined> {
  const local = daemonEndpoint(at)
  const file = local.addressFile ?? (local.endpoint.kind === 'unix' ? local.endpoint.path : undefined)
  const found = file === undefined ? undefined : readStats(file)
  if (file !== undefined && !found) return undefined
  if (found && platform() !== 'win32' && at.uid !== 0 && found.uid !== at.uid && found.uid !== 0) {
    throw new CrabError(
      'denied',
      `Cannot use the daemon: ${file} belongs to another user (uid ${found.uid})`,
      {
        hint: 'remove that file, or set CRABTALK_HOME to another directory',
      },
    )
  }
  const [{ readAddressFile: readAddress }, { socketDispatch }] = await Promise.all([
    import('../core/transport/address-file.ts'),
    import('../core/transport/client.ts'),
  ])
  const endpoint = await readAddress(local)
  if (!endpoint) return undefined
  const { otherwise } = at
  const dispatch = socketDispatch({ endpoint, ...(otherwise && { otherwise }) })
  try {
    const info = await requestHelloInfo(socketDispatch({ endpoint }), signal)
    return info ? { dispatch, info } : await connectOlder(dispatch, endpoint)
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'unavailable') return undefined
    throw reason
  }
}

/** Returns the state of a file; undefined when it does not exist, also when a part of its path is a file. */
function readStats(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false })
  } catch (reason) {
    if (getErrorCode(reason) === 'ENOTDIR') return undefined // what needs the home reports it
    throw reason
  }
}

async function connectOlder(dispatch: Dispatch, endpoint: SocketEndpoint): Promise<FoundDaemon> {
  const [{ overFixedDaemon }, { formatEndpoint }] = await Promise.all([
    import('../core/protocol/fixed-daemon.ts'),
    import('../core/transport/endpoint.ts'),
  ])
  const olderAt = formatEndpoint(endpoint)
  const older = overFixedDaemon(dispatch, { at: olderAt, defaultAgent: DEFAULT_AGENT })
  return { dispatch: older, info: HelloInfo.create(), olderAt }
}

/** Sends `hello` to the daemon; undefined when the daemon does not know that request. */
async function requestHelloInfo(dispatch: Dispatch, signal: AbortSignal): Promise<HelloInfo | undefined> {
  const toError = () =>
    new CrabError('timeout', `Cannot use the daemon: it did not answer within ${ANSWER_MS / 1000} s`, {
      hint: 'see logs/daemon.log; crabtalk daemon run names the process',
    })
  const hello = (soon: AbortSignal) => requestHello(dispatch, VERSIONS, soon)
  return await withDeadline(hello, { ms: ANSWER_MS, toError }, signal)
}
