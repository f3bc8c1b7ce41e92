import type { NotifyWay } from '../../core/base/chat-settings.ts'
import type { ColorDepth } from '../view/rgb.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The features of a terminal besides text, as the environment variables indicate. */
export interface TerminalKind {
  depth: ColorDepth
  /** Whether the background is light, if the environment says so (COLORFGBG). */
  isLight: boolean | undefined
  /** Whether titles, queries and focus reports are written: not to the Linux console, which prints some of them. */
  hasControls: boolean
  /** The best way to notify the user. */
  notify: Exclude<NotifyWay, 'auto' | 'off'>
  /** Whether the terminal shows progress (OSC 9;4). */
  hasProgress: boolean
  /** Whether notifications must be passed through tmux. */
  isTmux: boolean
}

/** Detects the terminal from environment variables. */
export function detectTerminal(env: Env): TerminalKind {
  const isTmux = Boolean(env['TMUX']) || /^(tmux|screen)/.test(env['TERM'] ?? '')
  return {
    depth: detectDepth(env),
    isLight: readColorFgBg(env['COLORFGBG']),
    hasControls: !/^(linux|dumb|vt\d+)?$/.test(env['TERM'] ?? ''),
    notify: isTmux ? 'bell' : detectNotify(env),
    hasProgress: !isTmux && detectProgress(env),
    isTmux,
  }
}

function detectDepth({ COLORTERM = '', TERM = '', TERM_PROGRAM, WT_SESSION }: Env): ColorDepth {
  if (/^(truecolor|24bit)$/i.test(COLORTERM) || WT_SESSION || /-direct$/.test(TERM)) return 24
  if (TERM_PROGRAM === 'Apple_Terminal' || /256color/.test(TERM)) return 8
  return /^(xterm-(kitty|ghostty)|alacritty|foot|wezterm)/.test(TERM) ? 24 : 4
}

function detectNotify(env: Env): TerminalKind['notify'] {
  const { TERM = '', TERM_PROGRAM = '' } = env
  if (TERM === 'xterm-kitty' || env['KITTY_WINDOW_ID']) return 'osc99'
  if (/^foot/.test(TERM) || /^rxvt-unicode/.test(TERM) || TERM_PROGRAM === 'WezTerm') return 'osc777'
  if (TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'ghostty' || TERM === 'xterm-ghostty') return 'osc9'
  return 'bell'
}

function detectProgress(env: Env): boolean {
  const { TERM = '', TERM_PROGRAM = '', VTE_VERSION = '0' } = env
  if (TERM_PROGRAM === 'WezTerm' || TERM_PROGRAM === 'ghostty' || TERM === 'xterm-ghostty') return true
  return Boolean(env['WT_SESSION']) || env['ConEmuANSI'] === 'ON' || Number(VTE_VERSION) >= 8_000
}

/** Reads COLORFGBG, such as `15;0`: the last number is the ANSI color of the background. */
function readColorFgBg(value: string | undefined): boolean | undefined {
  const background = /(?:^|;)(\d+)$/.exec(value ?? '')?.[1]
  return background === undefined
    ? undefined
    : ['7', '9', '10', '11', '12', '13', '14', '15'].includes(background)
}
