import { startTestDispatch, type TestDispatch } from '../test-dispatch.ts'

/**
 * Starts a node like startTestDispatch(). Before its home is removed, its servers have ended and everything
 * to be remembered of them is written.
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
