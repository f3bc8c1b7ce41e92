import { abortable } from '../core/base/abortable.ts'
import { CrabError, toCrabError } from '../core/base/errors.ts'
import type { Log } from '../core/base/log.ts'
import type { SubscriptionStore } from '../core/bus/subscription-store.ts'
import { formatLocation } from '../core/config/validation-issue.ts'
import type { SkillProblem } from '../core/skills/scan-skills.ts'
import type { McpServers } from '../mcp/types.ts'
import type { AgentSync } from './agent-sync.ts'
import type { Components } from './components/components.ts'
import type { ConfigPart, LiveConfig, PreparedConfig, Staleness } from './live-config.ts'

/** What is read again. */
export interface Reloadable {
  setting: LiveConfig
  roster: AgentSync
  subscriptions: Pick<SubscriptionStore, 'read'>
  skills(): Promise<{ problems: readonly SkillProblem[] }>
  /** The MCP servers, where there are any yet. */
  servers(): Promise<McpServers | undefined>
  /** Brings agents of an older form to that of today. */
  migrate(tell: Log): Promise<void>
  components: Pick<Components, 'readAgain'>
  /** Aborted with the node. */
  over: AbortSignal
  log: Log
}

/** Reads again what people write, one after another. */
export interface Reloads {
  /**
   * Reads config.toml, the agents, skills and subscriptions again, and rebuilds what is not as it was (decision 20): turns
   * under way finish on what they began with; questions, conversations and MCP servers that are the same stay.
   *
   * Fails with `config` for what a file says. A config.toml that cannot be used changes nothing; an agent that cannot be
   * used stays what it was, and all else is reloaded.
   */
  all(signal: AbortSignal): Promise<void>
  /**
   * Reads config.toml alone, where it may be another one by now, once for all who ask meanwhile; turns say why it cannot be
   * used. Fails with an abort only.
   */
  config(signal: AbortSignal): Promise<void>
}

export function reloader(node: Reloadable): Reloads {
  let last: Promise<unknown> = Promise.resolve()
  let looking: Promise<void> | undefined
  return {
    all: (signal) =>
      abortable(
        inTurn(() => reload(node, signal)),
        signal,
      ),
    async config(signal) {
      const why = await staleness(signal)
      if (!why) return
      const isLate = looking !== undefined
      await look(why, signal)
      if (!isLate || (await staleness(signal)) !== 'changed') return
      await look('changed', signal) // the other look had begun before the file changed
    },
  }

  function staleness(signal: AbortSignal): Promise<Staleness | undefined> {
    return abortable(node.setting.staleness(), signal)
  }

  async function look(why: Staleness, signal: AbortSignal): Promise<void> {
    looking ??= inTurn(() => reloadConfig(node, why)).finally(() => {
      looking = undefined
    })
    await abortable(looking, signal)
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const mine = last.then(work)
    last = mine.catch(() => undefined) // whoever asked for it is told
    return mine
  }
}

async function reload(node: Reloadable, signal: AbortSignal): Promise<void> {
  const { roster, subscriptions, log } = node
  await node.migrate(log)
  node.components.readAgain()
  const parts = await takeConfig(node, signal)
  const { changed: agents, problems } = await roster.reload()
  const { problem } = await subscriptions.read()
  for (const { path, line, message } of (await node.skills()).problems)
    log('warn', `${path}:${line}: ${message}`)
  log('info', describe(parts, agents), { parts, agents })
  const wrong = problems.map(({ message, ...place }) => `${formatLocation(place)}: ${message}`)
  if (problem) wrong.push(problem.message)
  if (wrong.length > 0) throw isPartial(wrong)
}

async function reloadConfig(node: Reloadable, why: Staleness): Promise<void> {
  const { over, log } = node
  const until = why === 'changed' ? over : AbortSignal.any([over, AbortSignal.timeout(LOOK_MS)])
  try {
    const parts = await takeConfig(node, until)
    if (parts.length > 0) log('info', `config.toml is another one; changed: ${parts.join(', ')}`, { parts })
  } catch (reason) {
    if (!until.aborted) log('warn', toCrabError(reason).message)
  }
}

/** How long a turn waits for a model server that was asked before and could not say what it has. */
const LOOK_MS = 1_000

/** Uses what config.toml says now; gives what of it is not as it was. */
async function takeConfig(node: Reloadable, signal: AbortSignal): Promise<readonly ConfigPart[]> {
  const { config, changed } = await readConfig(node.setting, signal)
  const servers = changed.includes('[env]') ? await node.servers() : undefined
  await servers?.setBaseEnv(config.env)
  if (changed.includes('[daemon]')) node.log('warn', '[daemon] counts when the daemon is started again')
  return changed
}

/** Reads config.toml until nobody else has changed the setting meanwhile. */
async function readConfig(setting: LiveConfig, signal: AbortSignal): Promise<PreparedConfig> {
  for (;;) {
    signal.throwIfAborted()
    const prepared = await setting.prepare(signal).catch((reason: unknown) => {
      if (signal.aborted) throw reason
      throw isUnchanged(toCrabError(reason))
    })
    if (setting.use(prepared)) return prepared
  }
}

function describe(parts: readonly ConfigPart[], agents: readonly string[]): string {
  const named = agents.length > 0 ? [`agents (${agents.join(', ')})`] : []
  const changed = [...parts, ...named].join(', ')
  return changed === '' ? 'Reloaded; nothing has changed' : `Reloaded; changed: ${changed}`
}

function isUnchanged({ kind, message, hint }: CrabError): CrabError {
  const next = 'mend it and reload again; until then everything stays as it was'
  return new CrabError(kind, `Cannot reload: ${message}`, { hint: hint ? `${hint}; ${next}` : next })
}

function isPartial(wrong: readonly string[]): CrabError {
  const list = wrong.length === 1 ? ` ${wrong[0]}` : wrong.map((line) => `\n${line}`).join('')
  return new CrabError('config', `Cannot reload all of it:${list}`, {
    hint: 'mend it and reload again; the rest is reloaded, and what is broken stays as it was',
  })
}
