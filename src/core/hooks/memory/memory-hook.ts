import type { PolicyAction } from '../../policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import { parseMemoryArguments } from './arguments.ts'
import type { MemoryPort } from './run-memory-tool.ts'
import { MEMORY_GROUP, MEMORY_TOOLS, type MemoryTool, memoryPrompt } from './specs.ts'

/**
 * The tools `remember`, `forget` and `recall` (RFC 0150). Nothing is recalled unless the model asks for it (RFC 0189).
 *
 * Here they need no permission, elsewhere they do; see Action.
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
  const { runMemoryTool } = await import('./run-memory-tool.ts') // only now: most turns need no memory
  const given = parseMemoryArguments(name, call.args)
  return {
    output: await runMemoryTool(given, { ...port, agent: call.agent.name }, signal),
    isError: false,
  }
}
