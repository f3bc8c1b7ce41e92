import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform, tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { homePaths } from '../src/core/config/paths.ts'
import { type Dispatch, request } from '../src/core/protocol/dispatch.ts'
import { readAddressFile } from '../src/core/transport/address-file.ts'
import { socketDispatch } from '../src/core/transport/client.ts'
import { daemonSocketEndpoint } from '../src/core/transport/local-endpoint.ts'
import type { Setting } from './setting.ts'

/** A running daemon. Disposing ends it. */
export interface Daemon extends AsyncDisposable {
  pid: number
  dispatch: Dispatch
  /** The path of its Unix socket. */
  socket: string
  /** The time, in milliseconds, from its start to its first answer. */
  startMs: number
}

/** Starts the daemon of a home; fails when it does not answer within 20 s. */
export async function startDaemon({
  binary,
  env,
  cwd,
}: Pick<Setting, 'binary' | 'env' | 'cwd'>): Promise<Daemon> {
  const begin = performance.now()
  const child = spawn(binary, ['daemon', 'run'], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  const end = async () => {
    child.kill()
    await ended
  }
  try {
    const found = await untilItAnswers(env['CRABTALK_HOME']!, begin + START_MS)
    return { ...found, pid: child.pid!, startMs: performance.now() - begin, [Symbol.asyncDispose]: end }
  } catch (reason) {
    await end()
    throw reason
  }
}

const START_MS = 20_000

async function untilItAnswers(home: string, deadline: number): Promise<Pick<Daemon, 'dispatch' | 'socket'>> {
  const { run } = homePaths({ CRABTALK_HOME: home }, { cwd: home, homeDir: home })
  const uid = process.getuid?.() ?? 0
  const local = daemonSocketEndpoint({ run, env: {}, platform: platform(), uid, tmpDir: tmpdir() })
  for (;;) {
    try {
      const endpoint = await readAddressFile(local)
      if (endpoint?.kind === 'unix') {
        const dispatch = socketDispatch({ endpoint })
        await request(dispatch, 'ping', {}, new AbortController().signal)
        return { dispatch, socket: endpoint.path }
      }
    } catch (reason) {
      if (performance.now() > deadline) throw reason
    }
    if (performance.now() > deadline) throw new Error('Cannot measure: no daemon answers')
    await sleep(LOOK_MS)
  }
}

const LOOK_MS = 2
