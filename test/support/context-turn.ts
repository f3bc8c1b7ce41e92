import type { ContextTurn } from '../../src/core/runtime/hook.ts'

/** A local turn that sends no events and asks no questions. */
export const CONTEXT_TURN: ContextTurn = {
  trust: 'local',
  notice() {},
  signal: new AbortController().signal,
}
