import { abortable } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ProcessHost } from '../../core/process/types.ts'
import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { ServerLink } from '../connection/link.ts'
import { computeFingerprint, type ServerTarget, type TargetDefaults, toTarget } from '../fingerprint.ts'
import { runEnvHelper } from '../helper/env-helper.ts'
import type { RunningProgram } from '../helper-program.ts'
import { validateTarget } from '../remote/header-rules.ts'
import type { FrameTap } from '../types.ts'
import { Claims, filterEnabled } from './claims.ts'
import { DrainingPeers } from './draining-peers.ts'
import { type OpenOptions, openLink } from './open-link.ts'
import { type Claim, Peer } from './peer.ts'
import { PeerEmitter, toOwners } from './server-events.ts'
import { ServerLog } from './server-log.ts'
import type { ServerMemory, ServerRecord } from './server-memory.ts'
import { newStartSlots } from './start-server.ts'

export interface PeersOptions extends TargetDefaults {
  processes: ProcessHost
  memory: ServerMemory
  /** The environment of this process; a server gets only the variables it needs. */
  env: Readonly<Record<string, string | undefined>>
  ownCommand?: RunningProgram['command']
  /** Milliseconds since 1970. */
  now(): number
  /** Waits for a time in milliseconds without keeping the process alive. Rejects when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<unknown>
  /** The defaults of entries, below their own keys. */
  entryDefaults?: Partial<McpEntry> | undefined
  /** The folder of the logs of servers; without it they are in memory only. */
  logDir?: string | undefined
  /** Sees every message of every connection. */
  frames?: FrameTap | undefined
}

/**
 * The servers of one node: identical declarations share one server, which ends with the last of them.
 *
 * A server moves through these stages; Peer has the states of its connection in each of them:
 * - undeclared: acquire() created it to verify an entry. An agent that declares the entry makes it declared
 *   (#adoptUndeclared()), otherwise disposal makes it stopping.
 * - declared: at least one agent has a claim on it. #dropClaims() makes it draining when the last claim is gone.
 * - draining: it has no claims, but turns or verifications under way hold it. A new claim makes it declared again
 *   (reclaim()), the disposal of the last hold makes it stopping.
 * - stopping: Peer.end() ends its processes. The next server with its fingerprint starts when that is done (#open()).
 */
export class Peers {
  readonly #options: PeersOptions
  #baseEnv: PeersOptions['baseEnv']
  #entryDefaults: Partial<McpEntry>
  /** The declared entry of each entry with defaults. */
  readonly #declared = new WeakMap<McpEntry, McpEntry>()
  readonly #slots = newStartSlots()
  readonly #peers = new Map<string, Peer>()
  readonly #claims = new Claims()
  readonly #draining = new DrainingPeers()
  /** The servers that acquire() created. */
  readonly #undeclared = new Set<Peer>()
  readonly #emitter: PeerEmitter
  #isOver = false

  constructor(options: PeersOptions) {
    this.#options = options
    this.#baseEnv = options.baseEnv
    this.#entryDefaults = options.entryDefaults ?? {}
    this.#emitter = new PeerEmitter(options.now)
  }

  /** Returns all servers in the order of their first owner. */
  all(): Peer[] {
    return [...this.#peers.values()]
  }

  /** Returns the declarations of an agent that are in force; undefined when it is not registered. */
  getClaims(agentId: string): readonly Claim[] | undefined {
    return this.#claims.get(agentId)
  }

  /** Returns a number that grows whenever the tools of an agent may have changed. */
  getGeneration(agentId: string): number {
    return this.#claims.getGeneration(agentId)
  }

  /** Calls the listener with every event, once for each owner, until disposed. It must not throw. */
  listen(listener: (event: McpServerEvent) => void): Disposable {
    return this.#emitter.listen(listener)
  }

  /** Returns the server of an entry if it is declared. */
  find(entry: McpEntry, agentId: string): Peer | undefined {
    return this.#peers.get(this.fingerprint(entry, agentId))
  }

  /** Returns the fingerprint of an entry of an agent. */
  fingerprint(entry: McpEntry, agentId: string): string {
    return computeFingerprint(this.#toTarget(entry), entry, { agentId, name: entry.name })
  }

  /** Returns why the server of an entry can never be started; undefined when it can be tried. */
  validate(entry: McpEntry): CrabError | undefined {
    return validateTarget(this.#toTarget(entry))
  }

  /**
   * Reconciles an agent's claims with its declarations: adds new ones, keeps the servers of unchanged ones,
   * drops removed ones. The changes of an agent are serialized.
   */
  register(agent: AgentConfig): Promise<void> {
    return this.#claims.serialize(agent.id, () => this.#reconcile(agent))
  }

  /**
   * Registers an agent unless exactly this version is registered, and returns whether it did. Starts nothing.
   */
  async ensure(agent: AgentConfig): Promise<boolean> {
    const isSame = this.#claims.isInForce({ ...agent, mcps: this.#withDefaults(agent.mcps) })
    if (!isSame) await this.register(agent)
    return !isSame
  }

  /**
   * Replaces the base environment of programs; the declarations that it changes move to other servers.
   * Returns the ids of the registered agents.
   */
  async rebase(
    baseEnv: PeersOptions['baseEnv'],
    entryDefaults: Partial<McpEntry> = this.#entryDefaults,
  ): Promise<string[]> {
    this.#baseEnv = baseEnv
    this.#entryDefaults = entryDefaults
    const ids = this.#claims.agents()
    await Promise.all(ids.map((id) => this.#claims.serialize(id, () => this.#claimAgain(id))))
    return ids
  }

  /** Tells all servers that credentials have changed; see Peer.renewCredentials(). */
  renewCredentials(): void {
    for (const peer of this.all()) void peer.renewCredentials()
  }

  /** Drops all claims of an agent. */
  unregister(agentId: string): Promise<void> {
    return this.#claims.serialize(agentId, async () => {
      const before = this.#claims.remove(agentId)
      this.#emitDepartures(before, [])
      this.#dropClaims(before)
    })
  }

  /**
   * Returns the server of an entry that need not be declared, in order to verify it, and holds it until
   * disposal. A server created for this ends then, unless the entry was declared meanwhile: then its claim takes
   * over the server.
   */
  async acquire(entry: McpEntry, agentId: string): Promise<{ peer: Peer } & AsyncDisposable> {
    const resolved = await this.#resolve(entry, agentId)
    if (this.#isOver)
      throw new CrabError(
        'unavailable',
        `Cannot use the MCP server "${entry.name}": crabtalk is shutting down`,
      )
    const known = this.#peers.get(resolved.fingerprint) ?? this.#draining.find(resolved.fingerprint)
    const peer = known ?? this.#createUndeclared(resolved, entry)
    const hold = peer.hold()
    return {
      peer,
      [Symbol.asyncDispose]: async () => {
        hold[Symbol.dispose]()
        if (this.#undeclared.delete(peer)) await this.#draining.stop(peer)
      },
    }
  }

  /** Ends all servers in parallel; agents registered from now on get none. Never rejects. */
  async end(): Promise<void> {
    this.#isOver = true
    const running = [...this.all(), ...this.#undeclared]
    await Promise.all([this.#draining.end(), ...running.map((peer) => peer.end())])
  }

  /** Like end(), for a process that is exiting: does not wait. */
  release(): void {
    this.#isOver = true
    this.#draining.release()
    for (const peer of [...this.all(), ...this.#undeclared]) peer.release()
  }

  #toTarget(entry: McpEntry): ServerTarget {
    return toTarget(entry, { home: this.#options.home, baseEnv: this.#baseEnv })
  }

  #withDefaults(entries: readonly McpEntry[]): McpEntry[] {
    return entries.map((entry) => {
      const whole = { ...this.#entryDefaults, ...entry }
      this.#declared.set(whole, entry)
      return whole
    })
  }

  async #claimAgain(id: string): Promise<void> {
    const claimed = this.#claims.get(id) ?? []
    const name = claimed[0]?.agent
    if (name !== undefined)
      await this.#reconcile({
        id,
        name,
        mcps: claimed.map((claim) => this.#declared.get(claim.entry) ?? claim.entry),
      })
  }

  async #reconcile(agent: Pick<AgentConfig, 'id' | 'name' | 'mcps'>): Promise<void> {
    const entries = filterEnabled(this.#withDefaults(agent.mcps))
    const known = await Promise.all(entries.map((entry) => this.#resolve(entry, agent.id)))
    if (this.#isOver) return
    const claimed = entries.map((entry, i): Claim => {
      return { agentId: agent.id, agent: agent.name, entry, peer: this.#getOrCreatePeer(known[i]!) }
    })
    const before = this.#claims.replace(agent.id, claimed)
    this.#emitDepartures(before, claimed)
    for (const { peer } of claimed) peer.claims = this.#claims.byPeer(peer)
    for (const claim of claimed)
      if (!before.some((old) => isSameOwner(old, claim))) this.#emitter.emitCurrentState(claim)
    this.#dropClaims(before)
  }

  /** Resolves the target of an entry, and reads the stored record in case its peer must be created. */
  async #resolve(entry: McpEntry, agentId: string): Promise<ResolvedServer> {
    const target = this.#toTarget(entry)
    const fingerprint = computeFingerprint(target, entry, { agentId, name: entry.name })
    const isThere = this.#peers.has(fingerprint)
    return { target, fingerprint, remembered: isThere ? {} : await this.#options.memory.read(fingerprint) }
  }

  #getOrCreatePeer(resolved: ResolvedServer): Peer {
    const { fingerprint } = resolved
    const existing = this.#peers.get(fingerprint) ?? this.#draining.reclaim(fingerprint)
    const known = existing ?? this.#adoptUndeclared(fingerprint)
    const peer = known ?? this.#createPeer(resolved)
    this.#peers.set(fingerprint, peer)
    return peer
  }

  #createUndeclared(resolved: ResolvedServer, entry: McpEntry): Peer {
    const peer = this.#createPeer(resolved)
    peer.claims = [{ agentId: '', agent: '', entry: { ...this.#entryDefaults, ...entry }, peer }]
    this.#undeclared.add(peer)
    return peer
  }

  /** Returns the server that acquire() created for an entry that is now declared, if there is one. */
  #adoptUndeclared(fingerprint: string): Peer | undefined {
    const peer = this.#undeclared.values().find((one) => one.fingerprint === fingerprint)
    if (peer) this.#undeclared.delete(peer)
    return peer
  }

  #createPeer(resolved: ResolvedServer): Peer {
    const { memory, now, wait, logDir } = this.#options
    const log = logDir === undefined ? undefined : new ServerLog(logDir, resolved.fingerprint)
    const peer: Peer = new Peer({
      ...{ ...resolved, memory, now, wait, log, slots: this.#slots },
      isDeclared: () => this.#peers.get(peer.fingerprint) === peer,
      open: (state, signal) => this.#open(peer, state, signal),
      readEnv: (argv, signal) => this.#readEnv(argv, signal),
      onEvent: (kind) => {
        if (!this.#draining.has(peer)) this.#emitter.emit(kind, peer.claims)
      },
      onToolsChanged: () => {
        for (const { agentId } of peer.claims) this.#claims.incrementGeneration(agentId)
      },
    })
    return peer
  }

  async #readEnv(argv: readonly string[], signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { processes, ownCommand: command, env, home } = this.#options
    const note = () => undefined // its next start notes why it fails
    return await runEnvHelper({ argv, processes, own: { command, env, home }, note }, signal)
  }

  async #open(peer: Peer, state: OpenOptions, signal: AbortSignal): Promise<ServerLink> {
    await abortable(this.#draining.whenStopped(peer.fingerprint), signal)
    const { target, fingerprint } = peer
    const traced = { target, fingerprint, owners: () => toOwners(peer.claims) }
    return await openLink({ ...this.#options, ...state, peer: traced }, signal)
  }

  /** Tells owners that they have left a server, also one that goes on for others or under another name. */
  #emitDepartures(previous: readonly Claim[], after: readonly Claim[]): void {
    for (const claim of previous) {
      if (after.some((one) => isSameOwner(claim, one))) continue
      this.#emitter.emitDeparture(claim, this.#claims.byPeer(claim.peer))
    }
  }

  /** Detaches claims that are no longer in force; a server without any is drained in the background. */
  #dropClaims(before: readonly Claim[]): void {
    for (const peer of new Set(before.map((claim) => claim.peer))) {
      const old = peer.claims
      peer.claims = this.#claims.byPeer(peer)
      if (peer.claims.length > 0 || this.#peers.get(peer.fingerprint) !== peer) continue
      this.#peers.delete(peer.fingerprint)
      peer.claims = old // the limits of its last declarations apply to those who still hold it
      this.#draining.begin(peer)
    }
  }
}

function isSameOwner(a: Claim, b: Claim): boolean {
  return a.peer === b.peer && a.agent === b.agent && a.entry.name === b.entry.name
}

/** The resolved target of an entry with the stored record of its server. */
interface ResolvedServer {
  target: ServerTarget
  fingerprint: string
  remembered: ServerRecord
}
