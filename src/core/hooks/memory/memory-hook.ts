import type { PolicyAction } from '../../policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import { parseMemoryArguments } from './arguments.ts'
import type { MemoryPort } from './run-memory-tool.ts'
import { MEMORY_GROUP, MEMORY_TOOLS, type MemoryTool, memoryPrompt } from './specs.ts'

/**
 * Provides the tools `remember`, `forget` and `recall` (ADR 0126). Nothing is recalled unless the model calls
 * the tool (ADR 0087).
 *
 * They need no permission in turns whose trust class may use the agent's memory; see `own` of PolicyAction.
 */
export function memoryHook(port: MemoryPort): Hook {
  return {
    schema: () => MEMORY_TOOLS,
    groups: () => [MEMORY_GROUP],
    systemPrompt: memoryPrompt,
    describe: (name, { args }) => (isMemoryTool(name) ? describe(name, args) : undefined),
    dispatch: (name, call, signal) => (isMemoryTool(name) ? run(name, { call, port }, signal) : undefined),
  }
}

function isMemoryTool(name: string): name is MemoryTool {
  return MEMORY_TOOLS.some((tool) => tool.name === name)
}

async function describe(name: MemoryTool, args: Record<string, unknown>): Promise<PolicyAction> {
  parseMemoryArguments(name, args)
  return { kind: 'tool', name, harmless: name === 'recall', own: true }
}

async function run(
  name: MemoryTool,
  { call, port }: { call: ToolDispatch; port: MemoryPort },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { runMemoryTool } = await import('./run-memory-tool.ts') // loaded lazily: most turns use no memory
  const memoryCall = parseMemoryArguments(name, call.args)
  return {
    output: await runMemoryTool(memoryCall, { ...port, agent: call.agent.name }, signal),
    isError: false,
  }
}
