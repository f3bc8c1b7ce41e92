import type { ApprovalMode, Rule } from '../../src/core/policy/types.ts'
import { Asks } from '../../src/core/runtime/asks.ts'
import { EventChannel } from '../../src/core/runtime/event-channel.ts'
import type { AgentEvent } from '../../src/core/runtime/events.ts'
import type { Hook } from '../../src/core/runtime/hook.ts'
import { Permissions } from '../../src/core/runtime/permission.ts'
import type { FinishedCall, ToolContext } from '../../src/core/runtime/tool-calls.ts'
import { TurnAsks } from '../../src/core/runtime/turn-asks.ts'
import { AGENT } from './agents.ts'

/**
 * Builds a turn of (crab, ann) in /tmp whose tools may do harmless things without asking; in the mode `all`
 * they may do everything. With `answered` it asks and waits for an answer.
 */
export function makeToolContext(
  hook: Hook,
  mode: ApprovalMode = 'ask',
  { rules = [], answered }: { rules?: readonly Rule[]; answered?: Asks } = {},
): ToolContext {
  const channel = new EventChannel()
  const asks = new TurnAsks({
    asks: answered ?? new Asks({ timeoutMs: 60_000 }),
    onAsk: answered ? 'park' : 'deny',
    isAttended: false,
    channel,
    turn: { agent: 'crab', sender: 'ann', trust: 'local', session: 's1', runId: 'r1' },
    newId: () => 'ask',
    now: () => 0,
  })
  const files = new Map<string, string>()
  const permissions = new Permissions({
    seen: files,
    context: { trust: 'local', workspace: '/tmp', readable: [], homeDir: '', mode, rules },
    asks,
    record: async () => {},
    addRule: async () => {},
    notice() {},
  })
  return {
    hook,
    permissions,
    asks,
    channel,
    request: { agent: AGENT, cwd: '/tmp' },
    dispatch: {
      sender: 'ann',
      trust: 'local',
      session: 's1',
      runId: 'r1',
      env: {},
      spillDir: '/nonexistent',
      turnOver: new AbortController().signal,
    },
    files,
    introduced: new Set(),
    withheld: new Map(),
    now: () => 0,
  }
}

/** Returns the answers of running tool calls. */
export async function collectAnswers(
  events: AsyncIterable<FinishedCall | AgentEvent>,
): Promise<FinishedCall[]> {
  const answers: FinishedCall[] = []
  for await (const event of events) if (!('type' in event)) answers.push(event)
  return answers
}
