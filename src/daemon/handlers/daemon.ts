import { CrabError } from '../../core/base/errors.ts'
import { VERSION } from '../../core/base/version.ts'
import { loadConfig } from '../../core/config/load-config.ts'
import { type Channel, classifyClient } from '../../core/policy/trust.ts'
import type { DaemonStats, Hello, HelloInfo } from '../../core/protocol/crabtalk.generated.ts'
import { wireName } from '../../core/protocol/dispatch.ts'
import { type Operation, REPLIES } from '../../core/protocol/operations.ts'
import type { Services } from '../services.ts'
import { variableDigest } from '../variable-digest.ts'
import { CALLERS } from './callers.ts'

/** Of the protocol. */
const WIRE_VERSION = 1
const SOON_MS = 500
const OPERATIONS = Object.keys(REPLIES) as Operation[]

/** `hello`: which version both speak, and to somebody at this machine on which variables the models here depend. */
export async function hello(services: Services, channel: Channel, { versions }: Hello): Promise<HelloInfo> {
  if (versions.length > 0 && !versions.includes(WIRE_VERSION)) {
    const hint = 'use a client and a daemon of one build'
    const what = `Cannot serve hello: this side speaks version ${WIRE_VERSION} only`
    throw new CrabError('invalid', what, { hint })
  }
  return {
    version: WIRE_VERSION,
    features: callable(channel).map(wireName),
    build: VERSION,
    pid: services.node.pid,
    environment: classifyClient(channel) === 'local' ? await modelEnvironment(services) : {},
  }
}

/** Returns the operations that a client may call; daemons of before list nothing. */
function callable(channel: Channel): Operation[] {
  return classifyClient(channel) === 'local'
    ? OPERATIONS
    : OPERATIONS.filter((operation) => CALLERS[operation] !== 'local')
}

/** `get_stats`: figures of this process; of a node that is no daemon those that it has. */
export async function getStats(services: Services, signal: AbortSignal): Promise<DaemonStats> {
  const { node, agents, running, asks, subscriptions, now } = services
  const { daemon } = node
  return {
    uptimeSecs: daemon ? Math.max(0, Math.floor((now() - daemon.startedAt) / 1000)) : 0,
    activeConversations: running.list().length,
    registeredAgents: (await agents.list()).agents.length,
    activeModel: await activeModel(services, signal),
    pid: node.pid,
    build: VERSION,
    home: node.paths.home,
    endpoints: [...(daemon?.endpoints() ?? [])],
    connections: daemon?.connections() ?? 0,
    memoryBytes: daemon?.memoryBytes() ?? 0,
    asks: asks.list('').length,
    subscriptions: (await subscriptions.read()).subscriptions.length,
    idleExitMs: daemon?.idleExitMs,
  }
}

/** `shutdown`: begins to end the daemon. Throws `invalid` in a process that is none. */
export function shutdown({ node }: Services): void {
  if (!node.daemon) throw new CrabError('invalid', 'Cannot serve shutdown: this process is no daemon')
  node.daemon.stop()
}

/**
 * Empty when there is none to be had; why, is for those to hear who ask for one. Nobody waits long for a model server that
 * does not say what it has.
 */
async function activeModel({ models: fresh, setting }: Services, signal: AbortSignal): Promise<string> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(SOON_MS)])
  const models = await fresh(soon).catch(() => setting.models(signal))
  return models.list().find(({ active }) => active)?.name ?? ''
}

/** As the next turn will find it; nothing is opened for that, as a model server may be slow. */
async function modelEnvironment({ node, setting }: Services): Promise<Record<string, string>> {
  const { modelVariables } = await import('../../core/provider/model-variables.ts')
  const config = await loadConfig(node.paths).catch(() => setting.config()) // turns say what is wrong with it
  const names = modelVariables(config, node.env)
  return Object.fromEntries(names.map((name) => [name, variableDigest(node.env[name])]))
}
