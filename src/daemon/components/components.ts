import { isDeepStrictEqual } from 'node:util'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { DISCOVERY, getPortFile, wantsComponent } from '../../core/config/component.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Hook } from '../../core/runtime/hook.ts'
import { type PortFileEntry, readPortFiles } from './port-files.ts'

/** A component that does not exist or cannot be reached. */
export interface MissingComponent {
  name: string
  /** The port file, relative to the home. */
  file: string
  /** The reason, as the end of a sentence about the file. */
  problem: string
}

/**
 * The components of a home, as of the last read of their port files: on first use, and on each `readAgain()`.
 */
export class Components {
  readonly #folder: string
  #read: readonly PortFileEntry[] | undefined
  #reported: readonly PortFileEntry[] = []
  #listener: ((changed: readonly string[]) => void) | undefined

  /** `folder` holds the port files; it does not have to exist. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Adds to agents the components they ask for. */
  get hook(): Hook {
    return { onBuildAgent: (agent) => this.join(agent) }
  }

  /**
   * Returns an agent with the components it asks for after its own servers. An own server wins over a
   * component of the same name.
   */
  join(agent: AgentConfig): AgentConfig {
    const own = agent.mcps.filter((entry) => getPortFile(entry) === undefined)
    if (!usesComponents(agent)) return own.length === agent.mcps.length ? agent : { ...agent, mcps: own }
    const joined = this.#all()
      .filter(({ name }) => wantsComponent(agent, name) && findNameClash(own, name) === undefined)
      .flatMap(({ server }) => ('entry' in server ? server.entry : []))
    return joined.length === 0 && own.length === agent.mcps.length
      ? agent
      : { ...agent, mcps: [...own, ...joined] }
  }

  /**
   * Returns the components that an agent asks for and does not get: invalid port files, and named components
   * without a port file.
   */
  missing(agent: AgentConfig): MissingComponent[] {
    if (!usesComponents(agent)) return []
    const all = this.#all()
    const named = Array.isArray(agent.components) ? agent.components : []
    const absent = named.filter((name) => all.every((one) => one.name !== name))
    return [
      ...listProblems(all.filter(({ name }) => wantsComponent(agent, name))),
      ...absent.map((name) => ({ name, file: `run/${name}.port`, problem: 'the file does not exist' })),
    ].filter(({ name }) => findNameClash(agent.mcps, name) === undefined)
  }

  /** The invalid port files. */
  get broken(): MissingComponent[] {
    return listProblems(this.#all())
  }

  /** The discovery agent, which owns all components, in the form that hooks expect. */
  get discovery(): AgentConfig {
    const mcps = this.#all().flatMap(({ server }) => ('entry' in server ? server.entry : []))
    return { ...BLANK_AGENT, ...DISCOVERY, mcps }
  }

  /** Re-reads the folder and reports the names of added, removed and rewritten components to the listener. */
  readAgain(): void {
    const now = readPortFiles(this.#folder)
    this.#read = now
    if (!this.#listener) return
    const before = this.#reported
    this.#reported = now
    const find = (list: readonly PortFileEntry[], name: string) => list.find((one) => one.name === name)
    const names = new Set([...before, ...now].map(({ name }) => name))
    const changed = [...names].filter((name) => !isDeepStrictEqual(find(before, name), find(now, name)))
    if (changed.length > 0) this.#listener(changed)
  }

  /**
   * Registers the only listener for changes until it is disposed; initially every component counts as new.
   * The listener must not throw.
   */
  listen(listener: (changed: readonly string[]) => void): Disposable {
    this.#listener = listener
    this.#reported = []
    return {
      [Symbol.dispose]: () => {
        this.#listener = undefined
      },
    }
  }

  #all(): readonly PortFileEntry[] {
    this.#read ??= readPortFiles(this.#folder)
    return this.#read
  }
}

/** Returns the entries of a built agent that come from port files instead of its own file. */
export function joinedEntries({ mcps }: AgentConfig): McpEntry[] {
  return mcps.filter((entry) => getPortFile(entry) !== undefined)
}

/** Only agents that ask for components cause the folder to be read. */
function usesComponents({ components = false }: AgentConfig): boolean {
  return Array.isArray(components) ? components.length > 0 : components
}

function listProblems(components: readonly PortFileEntry[]): MissingComponent[] {
  return components.flatMap(({ name, file, server }) =>
    'problem' in server ? { name, file, problem: server.problem } : [],
  )
}

const BLANK_AGENT = { description: '', max_iterations: 1, thinking: false, skills: [], tools: [], prompt: '' }
