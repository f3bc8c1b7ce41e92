import { isDeepStrictEqual } from 'node:util'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { DISCOVERY, getPortFile, wantsComponent } from '../../core/config/component.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Hook } from '../../core/runtime/hook.ts'
import { type PortFileEntry, readPortFiles } from './port-files.ts'

/** A component that there is not, or that cannot be reached. */
export interface MissingComponent {
  name: string
  /** Relative to the home. */
  file: string
  /** The end of a sentence about the file. */
  problem: string
}

/** The components of a home, as their port files said when they were last read: when first asked for, and by readAgain(). */
export class Components {
  readonly #folder: string
  #read: readonly PortFileEntry[] | undefined
  #told: readonly PortFileEntry[] = []
  #listener: ((changed: readonly string[]) => void) | undefined

  /** `folder` is that of the port files; it need not exist. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Gives agents the components they ask for. */
  get hook(): Hook {
    return { onBuildAgent: (agent) => this.join(agent) }
  }

  /** An agent with the components it asks for behind its own servers, of which one of that name wins. */
  join(agent: AgentConfig): AgentConfig {
    const own = agent.mcps.filter((entry) => getPortFile(entry) === undefined)
    if (!asks(agent)) return own.length === agent.mcps.length ? agent : { ...agent, mcps: own }
    const joined = this.#all()
      .filter(({ name }) => wantsComponent(agent, name) && findNameClash(own, name) === undefined)
      .flatMap(({ server }) => ('entry' in server ? server.entry : []))
    return joined.length === 0 && own.length === agent.mcps.length
      ? agent
      : { ...agent, mcps: [...own, ...joined] }
  }

  /** What an agent asks for and does not get: files that are no port files, and those it names and that are not there. */
  missing(agent: AgentConfig): MissingComponent[] {
    if (!asks(agent)) return []
    const all = this.#all()
    const named = Array.isArray(agent.components) ? agent.components : []
    const absent = named.filter((name) => all.every((one) => one.name !== name))
    return [
      ...listProblems(all.filter(({ name }) => wantsComponent(agent, name))),
      ...absent.map((name) => ({ name, file: `run/${name}.port`, problem: 'there is no such file' })),
    ].filter(({ name }) => findNameClash(agent.mcps, name) === undefined)
  }

  /** The port files that are none. */
  get broken(): MissingComponent[] {
    return listProblems(this.#all())
  }

  /** The owner of all of them, as hooks see one. */
  get discovery(): AgentConfig {
    const mcps = this.#all().flatMap(({ server }) => ('entry' in server ? server.entry : []))
    return { ...NOBODY, ...DISCOVERY, mcps }
  }

  /** Reads the folder again. What is new, gone, or written again is told to whoever listens, by name. */
  readAgain(): void {
    const now = readPortFiles(this.#folder)
    this.#read = now
    if (!this.#listener) return
    const before = this.#told
    this.#told = now
    const find = (list: readonly PortFileEntry[], name: string) => list.find((one) => one.name === name)
    const names = new Set([...before, ...now].map(({ name }) => name))
    const changed = [...names].filter((name) => !isDeepStrictEqual(find(before, name), find(now, name)))
    if (changed.length > 0) this.#listener(changed)
  }

  /** Has one listener told of changes until it is disposed; at first all are new. It must not throw. */
  listen(listener: (changed: readonly string[]) => void): Disposable {
    this.#listener = listener
    this.#told = []
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

/** The entries that an agent's file does not have, by name. */
export function joinedEntries({ mcps }: AgentConfig): McpEntry[] {
  return mcps.filter((entry) => getPortFile(entry) !== undefined)
}

/** Nobody else has the folder read. */
function asks({ components = false }: AgentConfig): boolean {
  return Array.isArray(components) ? components.length > 0 : components
}

function listProblems(components: readonly PortFileEntry[]): MissingComponent[] {
  return components.flatMap(({ name, file, server }) =>
    'problem' in server ? { name, file, problem: server.problem } : [],
  )
}

const NOBODY = { description: '', max_iterations: 1, thinking: false, skills: [], tools: [], prompt: '' }
