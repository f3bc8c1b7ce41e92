import { startTestDispatch, type TestDispatch } from '../test-dispatch.ts'

/**
 * Starts a node like startTestDispatch(). Its servers end and its cached data is written before its home is
 * removed.
 */
export async function startMcpNode(...options: Parameters<typeof startTestDispatch>): Promise<TestDispatch> {
  const node = await startTestDispatch(...options)
  return {
    ...node,
    async [Symbol.asyncDispose]() {
      const servers = await node.services.mcp(new AbortController().signal)
      await servers[Symbol.asyncDispose]()
      await node[Symbol.asyncDispose]()
    },
  }
}
