import { abortable } from '../core/base/abortable.ts'
import { CrabError, toCrabError } from '../core/base/errors.ts'
import type { Log } from '../core/base/log.ts'
import { Serial } from '../core/base/serial.ts'
import type { SubscriptionStore } from '../core/bus/subscription-store.ts'
import { formatLocation } from '../core/config/validation-issue.ts'
import type { SkillProblem } from '../core/skills/scan-skills.ts'
import type { McpServers } from '../mcp/types.ts'
import type { AgentSync } from './agent-sync.ts'
import type { Components } from './components/components.ts'
import type { ConfigPart, LiveConfig, PreparedConfig, Staleness } from './live-config.ts'

/** The parts of a node that are reloaded. */
export interface Reloadable {
  liveConfig: LiveConfig
  agentSync: AgentSync
  subscriptions: Pick<SubscriptionStore, 'read'>
  skills(): Promise<{ problems: readonly SkillProblem[] }>
  /** Returns the MCP servers, if they were opened already. */
  servers(): Promise<McpServers | undefined>
  /** Migrates agent files of older formats. */
  migrate(log: Log): Promise<void>
  components: Pick<Components, 'readAgain'>
  /** Aborted when the node shuts down. */
  shutdown: AbortSignal
  log: Log
}

/** Reloads the files that users edit, one reload after another. */
export interface Reloads {
  /**
   * Reloads config.toml, agents, skills and subscriptions, and rebuilds only what has changed (ADR 0108):
   * running turns finish with what they started with; questions, conversations and unchanged MCP servers
   * stay.
   *
   * Fails with `config` for invalid files. An invalid config.toml changes nothing; an invalid agent keeps its
   * previous configuration, and everything else is reloaded.
   */
  all(signal: AbortSignal): Promise<void>
  /**
   * Reloads only config.toml, if it may have changed, once for all concurrent callers. Turns report why it
   * cannot be used. Fails only when aborted.
   */
  config(signal: AbortSignal): Promise<void>
}

/** Creates the reloads of a node. */
export function reloader(node: Reloadable): Reloads {
  const reloads = new Serial()
  let pendingReload: Promise<void> | undefined
  return {
    all: (signal) =>
      abortable(
        reloads.run(() => reload(node, signal)),
        signal,
      ),
    async config(signal) {
      const why = await staleness(signal)
      if (!why) return
      const isLate = pendingReload !== undefined
      await reloadOnce(why, signal)
      if (!isLate || (await staleness(signal)) !== 'changed') return
      await reloadOnce('changed', signal) // the other reload had started before the file changed
    },
  }

  function staleness(signal: AbortSignal): Promise<Staleness | undefined> {
    return abortable(node.liveConfig.staleness(), signal)
  }

  async function reloadOnce(why: Staleness, signal: AbortSignal): Promise<void> {
    pendingReload ??= reloads
      .run(() => reloadConfig(node, why))
      .finally(() => {
        pendingReload = undefined
      })
    await abortable(pendingReload, signal)
  }
}

async function reload(node: Reloadable, signal: AbortSignal): Promise<void> {
  const { agentSync, subscriptions, log } = node
  await node.migrate(log)
  node.components.readAgain()
  const parts = await applyConfig(node, signal)
  const { changed: agents, problems } = await agentSync.reload()
  const { problem } = await subscriptions.read()
  for (const { path, line, message } of (await node.skills()).problems)
    log('warn', `${path}:${line}: ${message}`)
  log('info', describeChanges(parts, agents), { parts, agents })
  const issues = problems.map(({ message, ...place }) => `${formatLocation(place)}: ${message}`)
  if (problem) issues.push(problem.message)
  if (issues.length > 0) throw toPartialReloadError(issues)
}

async function reloadConfig(node: Reloadable, why: Staleness): Promise<void> {
  const { shutdown, log } = node
  const until =
    why === 'changed' ? shutdown : AbortSignal.any([shutdown, AbortSignal.timeout(MODELS_TIMEOUT_MS)])
  try {
    const parts = await applyConfig(node, until)
    if (parts.length > 0) log('info', `config.toml has changed: ${parts.join(', ')}`, { parts })
  } catch (reason) {
    if (!until.aborted) log('warn', toCrabError(reason).message)
  }
}

/** The timeout in milliseconds for a model server that could not list its models before. */
const MODELS_TIMEOUT_MS = 1_000

/** Applies the current config.toml, and returns the parts that changed. */
async function applyConfig(node: Reloadable, signal: AbortSignal): Promise<readonly ConfigPart[]> {
  const { config, changed } = await readConfig(node.liveConfig, signal)
  const isForServers = changed.includes('[env]') || changed.includes('[mcp]')
  const servers = isForServers ? await node.servers() : undefined
  await servers?.setBaseEnv(config.env, config.mcp)
  if (changed.includes('[daemon]'))
    node.log('warn', 'changes in [daemon] apply after a restart of the daemon')
  return changed
}

/** Reads config.toml, again if the configuration was changed by something else meanwhile. */
async function readConfig(liveConfig: LiveConfig, signal: AbortSignal): Promise<PreparedConfig> {
  for (;;) {
    signal.throwIfAborted()
    const prepared = await liveConfig.prepare(signal).catch((reason: unknown) => {
      if (signal.aborted) throw reason
      throw toReloadError(toCrabError(reason))
    })
    if (liveConfig.use(prepared)) return prepared
  }
}

function describeChanges(parts: readonly ConfigPart[], agents: readonly string[]): string {
  const named = agents.length > 0 ? [`agents (${agents.join(', ')})`] : []
  const changed = [...parts, ...named].join(', ')
  return changed === '' ? 'reloaded; nothing changed' : `reloaded; changed: ${changed}`
}

function toReloadError({ kind, message, hint }: CrabError): CrabError {
  const next = 'fix it and reload again; until then nothing changes'
  return new CrabError(kind, `Cannot reload: ${message}`, { hint: hint ? `${hint}; ${next}` : next })
}

function toPartialReloadError(issues: readonly string[]): CrabError {
  const list = issues.length === 1 ? ` ${issues[0]}` : issues.map((line) => `\n${line}`).join('')
  return new CrabError('config', `Cannot reload everything:${list}`, {
    hint: 'fix it and reload again; everything else was reloaded, and broken files keep their previous content in use',
  })
}
