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

/** The version of the protocol. */
const WIRE_VERSION = 1
const MODELS_TIMEOUT_MS = 500
const OPERATIONS = Object.keys(REPLIES) as Operation[]

/**
 * Handles `hello`: agrees on a version, and reports to clients on this machine the environment variables that
 * determine the models here.
 */
export async function hello(
  services: Pick<Services, 'node' | 'liveConfig'>,
  channel: Channel,
  { versions }: Hello,
): Promise<HelloInfo> {
  if (versions.length > 0 && !versions.includes(WIRE_VERSION)) {
    const hint = 'use a client and a daemon of the same build'
    const what = `Cannot serve hello: this daemon speaks only version ${WIRE_VERSION}`
    throw new CrabError('invalid', what, { hint })
  }
  return {
    version: WIRE_VERSION,
    features: listCallable(channel).map(wireName),
    build: VERSION,
    pid: services.node.pid,
    environment: classifyClient(channel) === 'local' ? await readModelEnvironment(services) : {},
  }
}

/** Returns the operations that a client may call; older daemons do not report any. */
function listCallable(channel: Channel): Operation[] {
  return classifyClient(channel) === 'local'
    ? OPERATIONS
    : OPERATIONS.filter((operation) => CALLERS[operation] !== 'local')
}

/** Handles `get_stats`: returns figures of this process; outside a daemon, only those that exist there. */
export async function getStats(
  services: Pick<
    Services,
    'node' | 'agents' | 'running' | 'asks' | 'subscriptions' | 'liveConfig' | 'models' | 'now'
  >,
  signal: AbortSignal,
): Promise<DaemonStats> {
  const { node, agents, running, asks, subscriptions, now } = services
  const { daemon } = node
  return {
    uptimeSecs: daemon ? Math.max(0, Math.floor((now() - daemon.startedAt) / 1000)) : 0,
    activeConversations: running.list().length,
    registeredAgents: (await agents.list()).agents.length,
    activeModel: await findActiveModel(services, signal),
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

/**
 * Handles `shutdown`: starts the shutdown of the daemon. Throws `invalid` in a process that is not a daemon.
 */
export function shutdown({ node }: Pick<Services, 'node'>): void {
  if (!node.daemon) throw new CrabError('invalid', 'Cannot serve shutdown: this process is not a daemon')
  node.daemon.stop()
}

/**
 * Returns the name of the active model, or an empty string when there is none; the operations that need a
 * model report why. A slow model server is waited for at most `MODELS_TIMEOUT_MS`.
 */
async function findActiveModel(
  { models: fresh, liveConfig }: Pick<Services, 'liveConfig' | 'models'>,
  signal: AbortSignal,
): Promise<string> {
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(MODELS_TIMEOUT_MS)])
  const models = await fresh(timeout).catch(() => liveConfig.models(signal))
  return models.list().find(({ active }) => active)?.name ?? ''
}

/**
 * Reads the configuration as the next turn will see it, but does not open the models: a model server may be
 * slow.
 */
async function readModelEnvironment({
  node,
  liveConfig,
}: Pick<Services, 'node' | 'liveConfig'>): Promise<Record<string, string>> {
  const { modelVariables } = await import('../../core/provider/model-variables.ts')
  const config = await loadConfig(node.paths).catch(() => liveConfig.config()) // turns report what is wrong with it
  const names = modelVariables(config, node.env)
  return Object.fromEntries(names.map((name) => [name, variableDigest(node.env[name])]))
}
