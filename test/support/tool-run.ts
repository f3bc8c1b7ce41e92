import { CrabError } from '../../src/core/base/errors.ts'
import type { PolicyAction } from '../../src/core/policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput } from '../../src/core/runtime/hook.ts'
import { AGENT } from './agents.ts'

/** The parts of a call that determine where a tool runs. */
export interface ToolPlace {
  cwd: string
  env?: Readonly<Record<string, string>>
  spillDir?: string
  turnOver?: AbortSignal
  mayShow?: (path: string) => boolean
  progress?: ToolDispatch['progress']
}

/** Returns a hook's description of what a call would do. */
export async function describeTool(
  hook: Hook,
  name: string,
  args: object,
  cwd: string,
): Promise<PolicyAction> {
  return (await hook.describe?.(name, { args: { ...args }, agent: AGENT, cwd }))!
}

/** Calls a tool of a hook without asking for permission; a CrabError becomes its answer, as in a turn. */
export async function runTool(
  hook: Hook,
  [name, args]: readonly [name: string, args: object],
  place: ToolPlace,
  signal: AbortSignal = NEVER,
): Promise<ToolOutput> {
  try {
    const action = await describeTool(hook, name, args, place.cwd)
    return (await hook.dispatch?.(name, toDispatch({ args: { ...args }, action }, place), signal))!
  } catch (reason) {
    if (!(reason instanceof CrabError)) throw reason
    return { output: `${reason.message}${reason.hint ? ` (${reason.hint})` : ''}`, isError: true }
  }
}

const NEVER = new AbortController().signal

function toDispatch(call: Pick<ToolDispatch, 'args' | 'action'>, place: ToolPlace): ToolDispatch {
  return {
    agent: AGENT,
    callId: 'a',
    sender: 'ann',
    trust: 'local',
    session: 's',
    runId: 'r',
    env: {},
    spillDir: '/nowhere',
    turnOver: NEVER,
    introduce: () => false,
    offerAgain: () => undefined,
    leavePlanMode: () => undefined,
    notice: () => undefined,
    mayShow: () => true,
    files: { get: () => undefined, set: () => undefined },
    progress: () => undefined,
    ask: () => Promise.reject(new CrabError('denied', 'nobody is there')),
    ...place,
    ...call,
  }
}
