import type { Hook, ToolDispatch, ToolOutput } from '../../src/core/runtime/hook.ts'

/** The implementation of a test tool: returns its text, or the whole answer. */
export type TestTool = (call: ToolDispatch, signal: AbortSignal) => Answer | Promise<Answer>

type Answer = string | ToolOutput

/** Builds a hook with these tools; each accepts any arguments, and needs no permission. */
export function toolsHook(tools: Readonly<Record<string, TestTool>>, { readOnly = false } = {}): Hook {
  return {
    schema: () =>
      Object.keys(tools).map((name) => ({
        name,
        description: `${name} it`,
        parameters: { type: 'object' },
        readOnly,
      })),
    describe: (name) =>
      Object.hasOwn(tools, name) ? Promise.resolve({ kind: 'tool', name, harmless: true }) : undefined,
    dispatch(name, call, signal) {
      const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
      return tool && run(tool, call, signal)
    },
  }
}

async function run(tool: TestTool, call: ToolDispatch, signal: AbortSignal): Promise<ToolOutput> {
  const answer = await tool(call, signal)
  return typeof answer === 'string' ? { output: answer, isError: false } : answer
}

/** Builds a tool that runs until it is stopped, and reports when it started and whether it has ended. */
export function endlessTool(): TestTool & { begun: Promise<void>; hasEnded: boolean } {
  const begun = Promise.withResolvers<void>()
  const tool: TestTool = async (_, signal) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    await new Promise((resolve) => setImmediate(resolve)) // cleaning up takes a while
    endless.hasEnded = true
    throw signal.reason
  }
  const endless = Object.assign(tool, { begun: begun.promise, hasEnded: false })
  return endless
}
