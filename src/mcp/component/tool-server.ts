import { type OutputUnit, Validator } from '@cfworker/json-schema'
import {
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { Log } from '../../core/base/log.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { Component, ComponentAnswer, ComponentCall, ComponentTool } from './types.ts'

/** The options of `ToolServer`. */
export interface ToolServerOptions {
  component: Component
  log: Log
  now(): number
  /** The maximum body of a request; a larger one is answered with 413. */
  maxBodyBytes: number
}

/**
 * Serves a component's tools over MCP on HTTP, in any revision, without sessions: every request is
 * independent.
 *
 * Throws `invalid` for tools that cannot be offered.
 */
export class ToolServer {
  readonly #options: ToolServerOptions
  readonly #tools: ReadonlyMap<string, CheckedTool>
  readonly #handler: McpHttpHandler
  readonly #running = new Set<Promise<unknown>>()
  readonly #shutdown = new AbortController()

  constructor(options: ToolServerOptions) {
    const { component, log, maxBodyBytes } = options
    this.#options = options
    this.#tools = checkTools(component)
    this.#handler = createMcpHandler(() => this.#newServer(), {
      maxRequestBodySize: maxBodyBytes,
      onerror: ({ message }) => log('debug', message),
    })
  }

  /** Answers an MCP request. */
  answer(request: Request): Promise<Response> {
    return this.#handler.fetch(request)
  }

  /** Resolves when no call is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  /** Aborts the running calls. */
  stop(): void {
    this.#shutdown.abort(new CrabError('cancelled', 'Cancelled: the component ends'))
  }

  /** Closes every stream; nothing is answered afterwards. */
  close(): Promise<void> {
    return this.#handler.close()
  }

  #newServer(): Server {
    const { name, version, description } = this.#options.component
    const server = new Server(
      { name, version },
      {
        capabilities: { tools: {} },
        instructions: description,
        jsonSchemaValidator: { getValidator: refuseToCheck },
      },
    )
    server.setRequestHandler('tools/list', () => ({
      tools: [...this.#tools.values()].map(({ definition }) => definition),
    }))
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const call = this.#call(params.name, params.arguments ?? {}, context)
      this.#running.add(call)
      return call.finally(() => this.#running.delete(call))
    })
    return server
  }

  async #call(name: string, args: JsonObject, context: ServerContext): Promise<CallToolResult> {
    const found = this.#tools.get(name)
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The tool "${name}" does not exist`)
    const problem = found.validate(args)
    if (problem !== undefined) return toFailure(problem)
    const { now, log } = this.#options
    const began = now()
    const result = await this.#run(found.tool, args, context)
    const fields = { tool: name, ms: now() - began }
    if (result.isError)
      log('warn', 'a call failed', { ...fields, answer: takeStart(firstText(result), MAX_LOGGED) })
    else log('info', 'a call', fields)
    return result
  }

  async #run(tool: ComponentTool, args: JsonObject, context: ServerContext): Promise<CallToolResult> {
    const signal = AbortSignal.any([context.mcpReq.signal, this.#shutdown.signal])
    try {
      const wantsProgress = context.mcpReq._meta?.progressToken !== undefined
      return toResult(await tool.run(args, { signal, wantsProgress, progress: createProgress(context) }))
    } catch (reason) {
      return toFailure(describeFailure(reason))
    }
  }
}

interface CheckedTool {
  tool: ComponentTool
  definition: Tool
  /** Returns what is wrong with arguments, for a model; undefined when they are valid. */
  validate(args: JsonObject): string | undefined
}

function checkTools({ tools }: Component): Map<string, CheckedTool> {
  const checked = new Map<string, CheckedTool>()
  for (const tool of tools) {
    const what = `Cannot offer the tool "${tool.name}"`
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
      throw new CrabError('invalid', `${what}: its name may contain only letters, digits, "_" and "-"`)
    }
    if (checked.has(tool.name)) throw new CrabError('invalid', `${what}: another tool has the same name`)
    checked.set(tool.name, checkTool(tool, what))
  }
  return checked
}

function checkTool(tool: ComponentTool, what: string): CheckedTool {
  const { run: _, inputSchema = NO_ARGUMENTS, outputSchema, ...about } = tool
  if (inputSchema['type'] !== 'object') {
    throw new CrabError('invalid', `${what}: its arguments must be an object, with "type": "object"`)
  }
  const validator = new Validator(inputSchema, '2020-12', false)
  return {
    tool,
    definition: {
      ...about,
      inputSchema: inputSchema as Tool['inputSchema'],
      ...(outputSchema && { outputSchema: outputSchema as NonNullable<Tool['outputSchema']> }),
    },
    validate(args) {
      const { valid, errors } = validator.validate(args)
      if (valid) return undefined
      return unknownArgument(args, inputSchema) ?? `Invalid arguments: ${describeLeafError(errors)}`
    },
  }
}

/** Describes an argument that a closed schema does not know, with the one that was probably meant. */
function unknownArgument(
  args: JsonObject,
  { properties, additionalProperties }: JsonObject,
): string | undefined {
  if (additionalProperties !== false) return undefined
  const known = Object.keys(isObject(properties) ? properties : {})
  const unknown = Object.keys(args).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  const all = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`
  return `Invalid arguments: unknown argument "${unknown}": ${didYouMean(unknown, known) ?? all}`
}

function describeLeafError(errors: readonly OutputUnit[]): string {
  const leaf = errors.at(-1)
  return leaf ? `${leaf.instanceLocation}: ${leaf.error}` : 'see the schema'
}

function toResult(answer: ComponentAnswer): CallToolResult {
  if (typeof answer === 'string') return { content: [{ type: 'text', text: answer }] }
  return { ...answer, content: [...answer.content] }
}

function toFailure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

function describeFailure(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  return reason instanceof CrabError && reason.hint ? `${reason.message} (${reason.hint})` : reason.message
}

function firstText({ content }: CallToolResult): string {
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

/** Creates the function that reports the progress of a call, if the host asked for it. */
function createProgress({ mcpReq }: ServerContext): ComponentCall['progress'] {
  const progressToken = mcpReq._meta?.progressToken
  return (message, progress, total) => {
    if (progressToken === undefined) return
    const params = { progressToken, progress, message, ...(total !== undefined && { total }) }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined) // the host may have disconnected
  }
}

/**
 * Replaces the SDK's validator, which compiles schemas; a component asks no questions, so there are no
 * answers to validate.
 */
function refuseToCheck(): never {
  throw new Error('answers are not checked against schemas')
}

/** The characters of a failed call's output that are logged. */
const MAX_LOGGED = 200
const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {}, additionalProperties: false }
