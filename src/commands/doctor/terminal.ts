import { type Check, type CheckContext, type CheckResult, note, ok, warning } from '../../cli/check.ts'
import { wantsColor } from '../../cli/color.ts'

/** Reports what the terminal can show, according to its variables. */
export const checkTerminal: Check = async ({ host }) => {
  const { stdout, stderr, env } = host
  if (!stdout.isTerminal && !stderr.isTerminal) return [note('no terminal: output is plain text')]
  return [checkTerminalType(host), checkColors(host), checkEncoding(env), ...listMultiplexers(env)]
}

function checkTerminalType({ env, columns }: CheckContext['host']): CheckResult {
  const type = env['TERM'] ?? ''
  if (type === '') return warning('TERM is not set: output is plain', 'export TERM=xterm-256color')
  if (type === 'dumb') return note('TERM is dumb: the chat is plain text, without colors and cursor movement')
  const width = columns()
  const size = `${type}, ${width} columns`
  if (width < MIN_COLUMNS) return warning(`${size}: too narrow for tables`, 'make the window wider')
  const hasPaste = !/^(linux|vt\d+|cons25)/.test(type)
  return ok(
    `${size}, ${hasPaste ? 'bracketed paste' : 'no bracketed paste: pasted lines are sent one by one'}`,
  )
}

function checkColors({ env, stdout, stderr }: CheckContext['host']): CheckResult {
  const isOn = wantsColor('auto', env, stdout.isTerminal ? stdout : stderr)
  if (env['NO_COLOR']) return note('no colors: NO_COLOR is set')
  if (!isOn) return note('no colors')
  const depth = /truecolor|24bit/.test(env['COLORTERM'] ?? '')
    ? '16 million'
    : env['TERM']?.includes('256')
      ? '256'
      : '16'
  return ok(`${depth} colors`)
}

/** Reports the encoding according to the first of these variables that is set, which takes precedence. */
function checkEncoding(env: CheckContext['host']['env']): CheckResult {
  const name = ['LC_ALL', 'LC_CTYPE', 'LANG'].find((one) => env[one])
  const locale = name ? `${name}=${env[name]}` : 'no locale is set'
  if (name && /utf-?8/i.test(env[name]!)) return ok(`UTF-8 (${locale})`)
  return warning(`text beyond ASCII may be shown wrongly: ${locale}`, 'export LANG=C.UTF-8')
}

function listMultiplexers(env: CheckContext['host']['env']): CheckResult[] {
  const found: CheckResult[] = []
  if (env['TMUX']) found.push(ok('inside tmux'))
  if (env['STY']) found.push(ok('inside screen'))
  if (env['SSH_CONNECTION']) found.push(ok('over ssh'))
  return found
}

const MIN_COLUMNS = 40
