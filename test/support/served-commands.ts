import type { SignalName } from '../../src/cli/host.ts'
import { main } from '../../src/commands/main.ts'
import { route } from '../../src/core/protocol/dispatch.ts'
import { listen } from '../../src/core/transport/listen.ts'
import { daemonEndpoint } from '../../src/daemon/find-daemon.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { Script } from './model-server.ts'
import { DAEMON, startTestDispatch, type TestDispatch } from './test-dispatch.ts'
import { makeTestHost, type TestHost, type TestHostOptions } from './test-host.ts'
import { until } from './until.ts'

/** A command that runs inside this process, in a home that a daemon serves. */
export interface ServedCommand extends AsyncDisposable {
  readonly at: TestHost
  /** Its exit code. */
  readonly finished: Promise<number>
  prints(pattern: RegExp, stream?: 'stdout' | 'stderr'): Promise<void>
  /** Sends a signal once the command listens for it; returns its exit code. */
  end(signal: SignalName): Promise<number>
}

/** A home with a daemon in this process, and commands that find it there. */
export interface ServedCommands extends AsyncDisposable {
  readonly daemon: TestDispatch
  /** Starts a command as bob, unless the options name another sender. */
  start(argv: readonly string[], options?: TestHostOptions): Promise<ServedCommand>
  /** Runs a command to its end. */
  run(
    argv: readonly string[],
    options?: TestHostOptions,
  ): Promise<{ code: number; stdout: string; stderr: string }>
}

export async function serveCommands(script: Script): Promise<ServedCommands> {
  const daemon = await startTestDispatch(script, { daemon: DAEMON })
  const { paths } = daemon.home
  const uid = process.getuid?.() ?? 0
  const { endpoint } = daemonEndpoint({ paths, env: {}, uid })
  const dispatch = route(handlers(daemon.services, 'local'))
  const listener = await listen(endpoint, { dispatch, graceMs: 0, onError: () => {} })
  const start = async (argv: readonly string[], options: TestHostOptions = {}): Promise<ServedCommand> => {
    const env = { CRABTALK_HOME: paths.home, USER: 'bob', ...options.env }
    const at = await makeTestHost({ ...options, env, withoutDaemon: false })
    let isOver = false
    const finished = main('crabtalk', argv, at.host).finally(() => {
      isOver = true
    })
    const end = async (signal: SignalName) => {
      await until(`${argv.join(' ')} listens`, () => isOver || at.listeners() > 0)
      at.signal(signal)
      return await finished
    }
    return {
      at,
      finished,
      prints: (pattern, stream = 'stdout') =>
        until(`${argv.join(' ')} prints ${pattern}`, () => pattern.test(at[stream]())),
      end,
      async [Symbol.asyncDispose]() {
        await end('SIGTERM')
        await at[Symbol.asyncDispose]()
      },
    }
  }
  return {
    daemon,
    start,
    async run(argv, options) {
      await using command = await start(argv, options)
      const code = await command.finished
      return { code, stdout: command.at.stdout(), stderr: command.at.stderr() }
    },
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]()
      await daemon[Symbol.asyncDispose]()
    },
  }
}
