import type { CrabError } from '../core/base/errors.ts'
import { sanitize } from '../core/base/sanitize.ts'
import { colorize } from './color.ts'

/** How errors are printed: by which program, whether with their stack, whether in colours. */
export interface ErrorStyle {
  program: string
  debug: boolean
  color: boolean
}

/** `crabtalk: error[kind]: message` and, where there is one, `hint: …`, without what a terminal would obey; the stack only with --debug. */
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
