import type { CrabError } from '../core/base/errors.ts'
import { paint } from './color.ts'

/** `crabtalk: error[kind]: message` and, where there is one, `hint: …`; the stack only with --debug. */
export function formatError(error: CrabError, { debug, color }: { debug: boolean; color: boolean }): string {
  const head = `crabtalk: ${paint(`error[${error.kind}]`, 'red', color)}: ${error.message}\n`
  const isBug = error.kind === 'internal' && !debug
  const advice = error.hint ?? (isBug ? 'this is a bug; run it again with --debug and report it' : undefined)
  const hint = advice ? `${paint('hint', 'dim', color)}: ${advice}\n` : ''
  return head + hint + (debug ? stacks(error) : '')
}

function stacks(error: Error): string {
  const cause = error.cause instanceof Error ? `caused by: ${stacks(error.cause)}` : ''
  return `${error.stack}\n${cause}`
}
