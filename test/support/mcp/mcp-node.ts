import { startTestDispatch, type TestDispatch } from '../test-dispatch.ts'

/** As startTestDispatch(); before its home goes, its servers have ended and all that is remembered of them is written. */
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
