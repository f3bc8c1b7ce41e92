import type { CrabError } from '../core/base/errors.ts'
import { sanitize } from '../core/base/sanitize.ts'
import { colorize } from './color.ts'

/** The style of printed errors: the name of the program, and whether to print stacks and colors. */
export interface ErrorStyle {
  program: string
  debug: boolean
  color: boolean
}

/**
 * Formats `crabtalk: error[kind]: message` and, if there is one, `hint: …`, without terminal control
 * sequences; the stack only with --debug.
 */
export function formatError(error: CrabError, { program, debug, color }: ErrorStyle): string {
  const head = `${program}: ${colorize(`error[${error.kind}]`, 'red', color)}: ${sanitize(error.message)}\n`
  const isBug = error.kind === 'internal' && !debug
  const advice = error.hint ?? (isBug ? 'this is a bug; run it again with --debug and report it' : undefined)
  const hint = advice ? `${colorize('hint', 'dim', color)}: ${sanitize(advice)}\n` : ''
  return head + hint + (debug ? stacks(error) : '')
}

function stacks(error: Error): string {
  const cause = error.cause instanceof Error ? `caused by: ${stacks(error.cause)}` : ''
  return `${error.stack}\n${cause}`
}
