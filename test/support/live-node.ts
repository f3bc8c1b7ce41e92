import type { AgentEvent } from '../../src/core/runtime/events.ts'
import { type FollowEvent, followConversation } from '../../src/core/runtime/live/follow.ts'
import { Journals } from '../../src/core/runtime/live/journals.ts'
import { LiveTurns, type NumberedEvent } from '../../src/core/runtime/live/live-turns.ts'
import type { TurnRequest } from '../../src/core/runtime/turn-request.ts'
import type { Script } from './model-server.ts'
import { startTestNode, type TestNode, type TestNodeOptions } from './test-node.ts'

const NEVER = new AbortController().signal

/** A runtime whose turns go through LiveTurns, as in every process. */
export interface LiveNode extends AsyncDisposable {
  node: TestNode
  live: LiveTurns
  journals: Journals
  observed: string[]
  request(content: string, more?: Partial<TurnRequest>): TurnRequest
  follow(afterSeq?: number, signal?: AbortSignal): AsyncGenerator<FollowEvent>
}

export async function startLive(script: Script, options?: TestNodeOptions): Promise<LiveNode> {
  const node = await startTestNode(script, options)
  const journals = new Journals()
  const over = new AbortController()
  const observed: string[] = []
  let made = 0
  const live = new LiveTurns({
    runtime: async () => node.runtime,
    journals,
    observers: [(run, { type }) => observed.push(`${run.start.primary.name} ${type}`)],
    shutdown: over.signal,
    now: Date.now,
    newId: () => `run-${++made}`,
  })
  const { id: agentId } = await node.agents.get('crab')
  return {
    node,
    live,
    journals,
    observed,
    request: (content, more) => ({
      agent: 'crab',
      sender: 'ann',
      trust: 'local',
      content,
      settings: {},
      ...more,
    }),
    follow: (afterSeq = 0, signal = NEVER) =>
      followConversation(
        { pair: { agentId, sender: 'ann' }, afterSeq },
        { journals, live, storage: node.stores.storage },
        signal,
      ),
    async [Symbol.asyncDispose]() {
      over.abort()
      await live.settled()
      await node[Symbol.asyncDispose]()
    },
  }
}

/** Adds everything that a source yields to a list. */
export async function collect<T extends FollowEvent | NumberedEvent>(
  source: AsyncIterable<T>,
  into: (T | AgentEvent)[],
): Promise<void> {
  for await (const value of source) into.push('type' in value ? value : (value.event as AgentEvent))
}

/** Counts the turns that ended. */
export function ends(seen: readonly FollowEvent[]): number {
  return seen.filter((told) => told.type === 'event' && told.event.type === 'end').length
}
