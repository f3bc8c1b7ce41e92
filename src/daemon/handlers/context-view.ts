import {
  ContextPartKind,
  type ContextView,
  type ViewContext,
} from '../../core/protocol/crabtalk.generated.ts'
import type { ContextPartName } from '../../core/runtime/context-view.ts'
import { sessionMeta } from '../../core/runtime/session-pages.ts'
import type { Services } from '../services.ts'
import { resolveSessionAgent } from './sessions.ts'

/** Handles `context_view`: breaks the next request of a session down into its parts. */
export async function handleContextView(
  services: Pick<Services, 'agents' | 'stores' | 'runtime'>,
  { session, model, cwd }: ViewContext,
  signal: AbortSignal,
): Promise<ContextView> {
  const { summary } = await sessionMeta(services.stores.storage, session)
  const agent = await resolveSessionAgent(services.agents, summary)
  const runtime = await services.runtime(signal)
  const at = { session, agent, ...(model && { model }), ...(cwd && { cwd }) }
  const { parts, ...view } = await runtime.viewContext(at, signal)
  return { ...view, parts: parts.map((part) => ({ ...part, kind: KINDS[part.kind] })) }
}

const KINDS: Record<ContextPartName, ContextPartKind> = {
  prompt: ContextPartKind.PROMPT,
  instructions: ContextPartKind.INSTRUCTIONS,
  tools: ContextPartKind.TOOLS,
  memory: ContextPartKind.MEMORY,
  summary: ContextPartKind.SUMMARY,
  user: ContextPartKind.USER,
  assistant: ContextPartKind.ASSISTANT,
  results: ContextPartKind.RESULTS,
}
