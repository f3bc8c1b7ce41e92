import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { runForeground } from '../../core/process/foreground.ts'
import { type ClipboardSystem, findInstalled } from './clipboard-programs.ts'

/** The environment for copying to the clipboard. */
export interface CopyOptions extends ClipboardSystem {
  /** Writes to the terminal directly, past everything that draws on it. */
  writeToTerminal(sequence: string): void
}

/**
 * Copies a text to the clipboard and returns how, as in `copied with wl-copy`: with a program of this system
 * or, over ssh or when there is no such program, through the terminal (OSC 52), which may ignore it.
 *
 * Throws `invalid` when the text is too long for the terminal.
 */
export async function copyText(text: string, options: CopyOptions): Promise<string> {
  const isRemote = Boolean(options.env['SSH_TTY'] || options.env['SSH_CONNECTION'])
  const tmux = options.env['TMUX'] && options.platform !== 'win32' ? TMUX : []
  const programs = isRemote ? tmux : [...localPrograms(options), ...tmux]
  for (const program of programs) {
    const path = await findInstalled(program[0], options)
    if (path && (await runWithInput([path, ...program.slice(1)], text, options)) === 0)
      return `copied with ${program[0]}`
  }
  const encoded = Buffer.from(text).toString('base64')
  if (encoded.length > MAX_OSC_CHARS)
    throw new CrabError('invalid', `Cannot copy ${text.length} characters: the terminal accepts fewer`, {
      hint: 'write it to a file with /export',
    })
  options.writeToTerminal(toOsc52(encoded, options.env))
  return 'copied by the terminal'
}

type Program = readonly [string, ...string[]]

const TMUX: readonly Program[] = [['tmux', 'load-buffer', '-w', '-']]

/** The maximum length of an OSC sequence that terminals accept. */
const MAX_OSC_CHARS = 74_994

/** Used because clip.exe does not support UTF-8. */
const POWERSHELL: Program = [
  'powershell.exe',
  ...['-NoProfile', '-NonInteractive', '-STA', '-Command'],
  'Set-Clipboard -Value (Get-Content -Raw -Encoding UTF8 -LiteralPath $env:CRABTALK_COPY)',
]

function localPrograms({ env, platform }: ClipboardSystem): Program[] {
  if (platform === 'darwin') return [['pbcopy']]
  if (platform === 'win32') return [POWERSHELL]
  return [
    ...(env['WAYLAND_DISPLAY'] ? [['wl-copy'] as const] : []),
    ...(env['DISPLAY'] ? [['xclip', '-selection', 'clipboard'] as const, ['xsel', '-bi'] as const] : []),
    ...(env['WSL_DISTRO_NAME'] ? [['clip.exe'] as const] : []),
  ]
}

/**
 * Runs a program with a text on its standard input or, on Windows, in the file that CRABTALK_COPY names. The
 * programs of X11 and Wayland stay in the background to serve the text; they therefore read it from a file,
 * and hold none of our streams.
 */
async function runWithInput(
  argv: Program,
  text: string,
  { env, platform }: ClipboardSystem,
): Promise<number> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crabtalk-'))
  const path = join(folder.path, 'clipboard')
  await writeFile(path, text, { mode: 0o600 })
  const script = 'file=$1; shift; exec "$@" < "$file" > /dev/null 2>&1'
  const run: Program = platform === 'win32' ? argv : ['/bin/sh', '-c', script, 'copy', path, ...argv]
  return await runForeground(run, { ...env, CRABTALK_COPY: path }).catch(() => 127)
}

/** Wraps the sequence for tmux, which passes on only wrapped sequences. */
function toOsc52(encoded: string, env: ClipboardSystem['env']): string {
  const sequence = `\x1b]52;c;${encoded}\x07`
  return env['TMUX'] ? `\x1bPtmux;\x1b${sequence}\x1b\\` : sequence
}
