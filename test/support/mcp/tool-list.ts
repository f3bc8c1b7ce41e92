import type { JsonObject } from '../../../src/core/base/message.ts'
import type { Layer, Link } from './message.ts'
import type { ServerOptions } from './options.ts'
import { type Tool, textResult, tool } from './tool.ts'

/** The tools of a server, in pages, which can be changed. */
export class ToolList {
  readonly #options: ServerOptions
  #tools: Tool[] = []
  #link: Link | undefined

  constructor(options: ServerOptions) {
    this.#options = options
  }

  add(tools: readonly Tool[]): void {
    this.#tools.push(...tools)
  }

  /** Returns the first tool of that name. */
  find(name: unknown): Tool | undefined {
    return this.#tools.find((tool) => tool.name === name)
  }

  /** Adds tools that return their own name, removes others, and notifies the client `times` times. */
  async change(add: readonly string[], remove: readonly string[], times: number): Promise<void> {
    const added = add.map((name) => tool(name, `Added: ${name}`, {}, () => textResult(name)))
    this.#tools = [...this.#tools.filter(({ name }) => !remove.includes(name)), ...added]
    for (let time = 0; time < times; time++) await this.#tell()
  }

  /** Returns the result of tools/list; undefined for an unknown cursor. */
  page(cursor: unknown): JsonObject | undefined {
    const { pages = 1, cursor: fault } = this.#options
    const definitions = this.#tools.map(({ definition }) => definition)
    if (fault === 'repeat') return { tools: definitions, nextCursor: 'page-again' }
    const number = cursor === undefined ? 1 : Number(/^page-(\d+)$/.exec(String(cursor))?.[1])
    const nextCursor = `page-${number + 1}`
    if (fault === 'endless') return { tools: [{ ...this.#endlessTool(number) }], nextCursor }
    if (!(number >= 1 && number <= pages)) return undefined
    const size = Math.ceil(definitions.length / pages)
    const tools = definitions.slice((number - 1) * size, number * size)
    return number < pages ? { tools, nextCursor } : { tools }
  }

  /** Returns the layer that notifies the client of changes and, with `--loop`, of one after each list. */
  layer(): Layer {
    return (out) => {
      this.#link = out
      return {
        send: async (message) => {
          await out.send(message)
          if (this.#options.loop === true && message.result?.['tools'] !== undefined) await this.#tell()
        },
      }
    }
  }

  #endlessTool(number: number): JsonObject {
    return { name: `tool_${number}`, inputSchema: { type: 'object' } }
  }

  async #tell(): Promise<void> {
    await this.#link!.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  }
}
