import { silentLog } from '../../src/core/base/log.ts'
import type { JsonObject } from '../../src/core/base/message.ts'
import type { DeepPartial, StreamEvent, StreamMsg } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { DaemonSelf, NodeOptions, Services } from '../../src/daemon/services.ts'
import { type ModelServer, type Script, startModelServer } from './model-server.ts'
import { type TemporaryHome, temporaryHome } from './temporary-home.ts'

export type WireEvent = NonNullable<StreamEvent['event']>

/** The whole program below its commands, with a home whose config.toml names a scripted model server. */
export interface TestDispatch extends AsyncDisposable {
  readonly dispatch: Dispatch
  readonly services: Services
  readonly server: ModelServer
  readonly home: TemporaryHome
  /** Runs a turn to its end, by default one of (crab, ann). */
  ask(content: string, more?: DeepPartial<StreamMsg>, signal?: AbortSignal): Promise<WireEvent[]>
}

/** Starts it; `config` is added to config.toml, the only file of the home. */
export async function startTestDispatch(
  script: Script,
  {
    config = '',
    env = {},
    ...more
  }: { config?: string; env?: Readonly<Record<string, string>> } & Partial<NodeOptions> = {},
): Promise<TestDispatch> {
  const home = await temporaryHome()
  const server = await startModelServer(script)
  const model = `[llm]\nbase_url = "${server.url}"\napi_key = "sk-test-0123456789"\nmodel = "scripted"\n`
  await home.write('config.toml', model + config)
  const services = compose({ ...nodeOptions(home, env), ...more })
  const dispatch = route(handlers(services, 'process'))
  return {
    dispatch,
    services,
    server,
    home,
    async ask(content, more = {}, signal = NEVER) {
      const events = await Array.fromAsync(
        streamTurn(dispatch, { agent: 'crab', sender: 'ann', content, ...more }, signal),
      )
      return events.map(({ event }) => event!)
    },
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Returns the options of a node for that home, in this process. */
export function nodeOptions(
  { paths }: TemporaryHome,
  env: Readonly<Record<string, string | undefined>> = {},
): NodeOptions {
  return {
    paths,
    env,
    cwd: paths.home,
    homeDir: paths.home,
    pid: process.pid,
    uid: process.getuid?.() ?? 0,
    ripgrep: async () => undefined,
    searchWorker: async () => undefined,
    log: silentLog,
  }
}

/** The parts of a daemon that matter below its sockets. */
export const DAEMON: DaemonSelf = {
  startedAt: 0,
  idleExitMs: undefined,
  endpoints: () => [],
  connections: () => 0,
  memoryBytes: () => 0,
  stop() {},
}

/** Returns the event of that case; fails when it is missing. */
export function findEvent<C extends WireEvent['$case']>(
  events: readonly WireEvent[],
  name: C,
): EventByCase<C> {
  const found = events.find((event): event is EventByCase<C> => event.$case === name)
  if (found) return found
  throw new Error(`No ${name} among ${events.map(({ $case }) => $case).join(', ')}`)
}

type EventByCase<C extends WireEvent['$case']> = Extract<WireEvent, { $case: C }>

/** Returns the system prompt of a request. */
export function systemPrompt(json: JsonObject): string {
  const messages = json['messages'] as { role: string; content: string }[]
  return messages.find(({ role }) => role === 'system')?.content ?? ''
}

const NEVER = new AbortController().signal
