import type { Output } from './output.ts'

/** The values of --color. */
export type ColorChoice = 'auto' | 'always' | 'never'

/**
 * Whether to color a stream: decided by --color, else NO_COLOR, else FORCE_COLOR or CLICOLOR_FORCE, else
 * whether the stream is a terminal that supports colors.
 */
export function wantsColor(
  choice: ColorChoice,
  env: Readonly<Record<string, string | undefined>>,
  output: Pick<Output, 'isTerminal'>,
): boolean {
  if (choice !== 'auto') return choice === 'always'
  if (env['NO_COLOR']) return false
  if (isForced(env['FORCE_COLOR']) || isForced(env['CLICOLOR_FORCE'])) return true
  return output.isTerminal && env['TERM'] !== 'dumb'
}

/** Wraps text in SGR codes when `color` is set. */
export function colorize(text: string, style: Paint, color: boolean): string {
  const [on, off] = STYLES[style]
  return color ? `\u001b[${on}m${text}\u001b[${off}m` : text
}

/** The name of a text style. */
export type Paint = keyof typeof STYLES

const STYLES = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  bold: [1, 22],
  dim: [2, 22],
} as const satisfies Record<string, readonly [number, number]>

function isForced(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}
