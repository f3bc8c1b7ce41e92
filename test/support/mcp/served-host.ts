import { PassThrough } from 'node:stream'
import { Client as NewClient } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { type ServeAgentsOptions, serveAgents } from '../../../src/mcp/serve/serve-agents.ts'
import { LineTransport } from './client-lines.ts'

/** The official clients of a host. */
export const HOSTS = ['SDK 1.x', 'SDK 2.x', 'SDK 2.x, 2026-07-28'] as const

export type HostKind = (typeof HOSTS)[number]

/** Answers a form. */
export type Answer = (form: JsonObject) => JsonObject | Promise<JsonObject>

export interface ServedHost extends AsyncDisposable {
  tools(): Promise<string[]>
  call(
    name: string,
    args?: JsonObject,
    options?: { signal?: AbortSignal; onProgress?: (words: string) => void },
  ): Promise<HostAnswer>
  /** The protocol revision that was negotiated. */
  revision(): string | undefined
  /** Returns the number of tools/list_changed notifications it received. */
  changes(): number
  /** Closes the input of the serving side. */
  hangUp(): void
  /** Resolves when the serving side has returned. */
  served: Promise<void>
  /** The logged lines. */
  log: readonly string[]
}

/** An answer to a call. */
export interface HostAnswer {
  text: string
  structured: JsonObject
  isError: boolean
}

/**
 * Serves agents over a pair of pipes to an official client; with `answer` that client can show forms to its
 * user.
 */
export async function serveTo(
  kind: HostKind,
  options: Omit<ServeAgentsOptions, 'streams' | 'log' | 'only' | 'env'> & Partial<ServeAgentsOptions>,
  answer?: Answer,
): Promise<ServedHost> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const log: string[] = []
  const streams = { input, write: (text: string) => void output.write(text) }
  const full = {
    only: [],
    env: {},
    ...options,
    streams,
    log: (line: string) => void log.push(line),
  }
  const over = new AbortController()
  const served = serveAgents(full, over.signal)
  served.catch(() => undefined) // the test awaits it
  const transport = new LineTransport({ input: output, output: input })
  const client = await (kind === 'SDK 1.x' ? connectOld : connectNew(kind))(transport, answer)
  return {
    ...client,
    served,
    log,
    hangUp: () => void input.end(),
    async [Symbol.asyncDispose]() {
      await client.close()
      over.abort()
      await served
    },
  }
}

type Connected = Pick<ServedHost, 'tools' | 'call' | 'revision' | 'changes'> & { close(): Promise<void> }

async function connectOld(transport: LineTransport, answer: Answer | undefined): Promise<Connected> {
  const capabilities = answer ? { elicitation: {} } : {}
  const client = new OldClient({ name: 'host', version: '1' }, { capabilities })
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
  if (answer) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => answer(params) as never)
  await client.connect(transport as never)
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      toAnswer(await client.callTool({ name, arguments: args }, undefined, toRequestOptions(options))),
    revision: () => transport.revision,
    changes: () => changes,
    close: () => client.close(),
  }
}

function connectNew(
  kind: HostKind,
): (transport: LineTransport, answer: Answer | undefined) => Promise<Connected> {
  return async (transport, answer) => {
    const mode = kind === 'SDK 2.x' ? 'legacy' : { pin: '2026-07-28' }
    const capabilities = answer ? { elicitation: { form: {} } } : {}
    const client = new NewClient(
      { name: 'host', version: '1' },
      { capabilities, versionNegotiation: { mode } },
    )
    let changes = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => void changes++)
    if (answer)
      client.setRequestHandler('elicitation/create', async ({ params }) => (await answer(params)) as never)
    await client.connect(transport as never)
    if (kind !== 'SDK 2.x') client.listen({ toolsListChanged: true }).catch(() => undefined)
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, args = {}, options = {}) =>
        toAnswer(await client.callTool({ name, arguments: args }, toRequestOptions(options))),
      revision: () => client.getNegotiatedProtocolVersion(),
      changes: () => changes,
      close: () => client.close(),
    }
  }
}

function toRequestOptions(options: NonNullable<Parameters<ServedHost['call']>[2]>) {
  const { signal, onProgress } = options
  return {
    ...(signal && { signal }),
    ...(onProgress && {
      onprogress: ({ message }: { message?: string | undefined }) => onProgress(message ?? ''),
    }),
  }
}

function toAnswer(result: JsonObject): HostAnswer {
  const content = result['content'] as { text: string }[]
  return {
    text: content.map(({ text }) => text).join('\n'),
    structured: (result['structuredContent'] ?? {}) as JsonObject,
    isError: result['isError'] === true,
  }
}
