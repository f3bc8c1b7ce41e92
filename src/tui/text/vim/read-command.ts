/** An operator: delete, change, or yank. */
export type VimOperator = 'd' | 'c' | 'y'

/** A command of normal mode. */
export interface VimCommand {
  /** Undefined when no count was typed. */
  count: number | undefined
  operator: VimOperator | undefined
  /** A motion, a text object, `line` for the doubled operator, or the action itself. */
  target: string
}

/** Reads the typed keys of normal mode: a command, or whether more keys may complete one. */
export function readVimCommand(keys: string): VimCommand | 'incomplete' | 'unknown' {
  const [, first, operator, second, rest = ''] = COMMAND.exec(keys) ?? []
  if (rest === '' || PREFIXES.test(rest)) return 'incomplete'
  const count =
    first === undefined && second === undefined
      ? undefined
      : Math.min(MAX_COUNT, Number(first ?? 1) * Number(second ?? 1))
  if (operator === undefined)
    return PREFIX_ACTIONS.test(rest) || ACTIONS.includes(rest) ? toCommand(rest) : 'unknown'
  if (rest === operator) return toCommand('line')
  const isTarget = /^[ia].$/su.test(rest) || MOTION_KEYS.test(rest)
  return isTarget ? toCommand(rest) : /^[ia]$/.test(rest) ? 'incomplete' : 'unknown'

  function toCommand(target: string): VimCommand {
    return { count, operator: operator as VimOperator | undefined, target }
  }
}

const COMMAND = /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?(.*)$/su
/** Keys that need another one. */
const PREFIXES = /^[fFtTrg]$/
const PREFIX_ACTIONS = /^(?:[fFtTr].|gg)$/su
const MOTION_KEYS = /^(?:[hlwWbBeE0^$G;,jk ]|gg|[fFtT].)$/su
const ACTIONS = 'h l w W b B e E 0 ^ $ G ; , j k x X s S D C Y p P u i I a A o O ~ J . /'
  .split(' ')
  .concat(' ')
const MAX_COUNT = 9_999
