import { MAX_INPUT_BYTES, readStream } from '../../cli/named-file.ts'
import { imageType } from '../../core/base/image-type.ts'
import type { ProcessHost } from '../../core/process/types.ts'
import { type AttachedFile, CLIPBOARD_NAME } from '../../tui/ports.ts'
import { type ClipboardSystem, findInstalled } from './clipboard-programs.ts'

/** The environment for reading the clipboard. */
export interface PasteOptions extends ClipboardSystem {
  processes: ProcessHost
}

/**
 * Returns the image on the clipboard, else its text; undefined when there is neither, or no program to read
 * it.
 */
export async function pasteClipboard(
  options: PasteOptions,
  signal: AbortSignal,
): Promise<AttachedFile | string | undefined> {
  for (const { argv, decode } of listReaders(options)) {
    const bytes = await captureOutput(argv, options, signal)
    const found = bytes && decode(bytes)
    if (found !== undefined && found.length !== 0) return toFound(found)
  }
  return undefined
}

/**
 * A program that prints the clipboard, and the decoder of its output, which returns undefined when there is
 * nothing.
 */
interface ClipboardReader {
  argv: readonly [string, ...string[]]
  decode(output: Buffer): Buffer | string | undefined
}

/** Returns the readers of this system, those of images first. */
function listReaders({ env, platform }: ClipboardSystem): ClipboardReader[] {
  if (platform === 'darwin') return MAC
  if (platform === 'win32' || env['WSL_DISTRO_NAME']) return WINDOWS
  return [...(env['WAYLAND_DISPLAY'] ? WAYLAND : []), ...(env['DISPLAY'] ? X11 : [])]
}

function decodeImage(output: Buffer): Buffer | undefined {
  return imageType(output) ? output : undefined
}

function decodeText(output: Buffer): string {
  return output.toString('utf8').replaceAll('\r\n', '\n')
}

/** Decodes the output of osascript: `«data PNGf89504E47…»`. */
function decodeAppleImage(output: Buffer): Buffer | undefined {
  const hex = /^«data PNGf([0-9A-F]+)»/.exec(output.toString('utf8'))?.[1]
  return hex === undefined ? undefined : decodeImage(Buffer.from(hex, 'hex'))
}

function decodeBase64Image(output: Buffer): Buffer | undefined {
  return decodeImage(Buffer.from(output.toString('latin1').trim(), 'base64'))
}

const WAYLAND: ClipboardReader[] = [
  { argv: ['wl-paste', '--no-newline', '--type', 'image/png'], decode: decodeImage },
  { argv: ['wl-paste', '--no-newline', '--type', 'text'], decode: decodeText },
]
const X11: ClipboardReader[] = [
  { argv: ['xclip', '-selection', 'clipboard', '-t', 'image/png', '-o'], decode: decodeImage },
  { argv: ['xclip', '-selection', 'clipboard', '-o'], decode: decodeText },
  { argv: ['xsel', '-bo'], decode: decodeText },
]
const MAC: ClipboardReader[] = [
  { argv: ['pngpaste', '-'], decode: decodeImage },
  { argv: ['osascript', '-e', 'the clipboard as «class PNGf»'], decode: decodeAppleImage },
  { argv: ['pbpaste'], decode: decodeText },
]
const POWERSHELL = ['powershell.exe', '-NoProfile', '-NonInteractive', '-STA', '-Command'] as const
const IMAGE_SCRIPT = [
  'Add-Type -AssemblyName System.Windows.Forms, System.Drawing',
  '$image = [Windows.Forms.Clipboard]::GetImage()',
  'if ($image) { $stream = New-Object IO.MemoryStream',
  '$image.Save($stream, [Drawing.Imaging.ImageFormat]::Png)',
  '[Convert]::ToBase64String($stream.ToArray()) }',
].join('; ')
const TEXT_SCRIPT = '[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-Clipboard -Raw'
const WINDOWS: ClipboardReader[] = [
  { argv: [...POWERSHELL, IMAGE_SCRIPT], decode: decodeBase64Image },
  { argv: [...POWERSHELL, TEXT_SCRIPT], decode: decodeText },
]

/** The timeout in milliseconds: a program may wait forever for a clipboard whose owner is gone. */
const TIMEOUT_MS = 5_000

/** Returns what a program writes; undefined when it is not installed, fails, or writes too much. */
async function captureOutput(
  argv: ClipboardReader['argv'],
  { processes, env, cwd }: PasteOptions,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (!(await findInstalled(argv[0], { env, cwd }))) return undefined
  await using running = await processes.start({ argv, cwd, env, stdin: 'none' })
  running.stderr.resume()
  const either = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  const stop = () => void running.end()
  either.addEventListener('abort', stop, { once: true })
  try {
    const output = await readStream(running.stdout, argv[0]).catch(() => undefined)
    const { code } = await running.exited
    return code === 0 ? output : undefined
  } finally {
    either.removeEventListener('abort', stop)
  }
}

function toFound(found: Buffer | string): AttachedFile | string | undefined {
  if (typeof found === 'string') return found.length > MAX_INPUT_BYTES ? undefined : found
  return { name: CLIPBOARD_NAME, mediaType: imageType(found) ?? 'image/png', data: found }
}
