import type { ToolDispatch, ToolRequest } from '../../src/core/runtime/hook.ts'
import { AGENT } from './agents.ts'

/**
 * Builds a tool call as a hook receives it, in a conversation of (crab, ann) that knows no file and never
 * asks.
 */
export function toolDispatch(more: Partial<ToolDispatch> = {}): ToolDispatch {
  const files = new Map<string, string>()
  return {
    callId: 'a',
    args: {},
    agent: AGENT,
    sender: 'ann',
    trust: 'local',
    session: 's',
    runId: 'r',
    cwd: '/',
    env: {},
    action: { kind: 'tool', name: 'test', harmless: true },
    files: { get: (path) => files.get(path), set: (path, version) => void files.set(path, version) },
    spillDir: '/nonexistent',
    turnOver: new AbortController().signal,
    progress() {},
    offerAgain() {},
    introduce: () => false,
    leavePlanMode() {},
    notice() {},
    mayShow: () => true,
    ask: () => Promise.reject(new Error('nobody is asked')),
    ...more,
  }
}

/** Builds the permission request of that call. */
export function toolRequest(more: Partial<ToolRequest> = {}): ToolRequest {
  return { args: {}, agent: AGENT, cwd: '/', ...more }
}
