import type { ContextTurn } from '../../src/core/runtime/hook.ts'

/** A local turn that tells nothing and asks nothing. */
export const CONTEXT_TURN: ContextTurn = {
  trust: 'local',
  notice() {},
  signal: new AbortController().signal,
}
