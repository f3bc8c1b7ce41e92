import { imageType } from '../../core/base/image-type.ts'
import type { ProcessHost } from '../../core/process/types.ts'
import type { AttachedFile } from '../../tui/ports.ts'
import { MAX_INPUT_BYTES, readStream } from '../named-file.ts'
import { type ClipboardSystem, findInstalled } from './clipboard-programs.ts'

export interface PasteOptions extends ClipboardSystem {
  processes: ProcessHost
}

/** An image on the clipboard, else its text; undefined when there is neither, or no program to ask. */
export async function pasteClipboard(
  options: PasteOptions,
  signal: AbortSignal,
): Promise<AttachedFile | string | undefined> {
  for (const { argv, decode } of readers(options)) {
    const bytes = await captureOutput(argv, options, signal)
    const found = bytes && decode(bytes)
    if (found !== undefined && found.length !== 0) return toFound(found)
  }
  return undefined
}

/** A program that gives what is on the clipboard, and what its output means; undefined for nothing. */
interface ClipboardReader {
  argv: readonly [string, ...string[]]
  decode(output: Buffer): Buffer | string | undefined
}

/** Images first. */
function readers({ env, platform }: ClipboardSystem): ClipboardReader[] {
  if (platform === 'darwin') return MAC
  if (platform === 'win32' || env['WSL_DISTRO_NAME']) return WINDOWS
  return [...(env['WAYLAND_DISPLAY'] ? WAYLAND : []), ...(env['DISPLAY'] ? X11 : [])]
}

function image(output: Buffer): Buffer | undefined {
  return imageType(output) ? output : undefined
}

function text(output: Buffer): string {
  return output.toString('utf8').replaceAll('\r\n', '\n')
}

/** As osascript prints data: `«data PNGf89504E47…»`. */
function appleImage(output: Buffer): Buffer | undefined {
  const hex = /^«data PNGf([0-9A-F]+)»/.exec(output.toString('utf8'))?.[1]
  return hex === undefined ? undefined : image(Buffer.from(hex, 'hex'))
}

function base64Image(output: Buffer): Buffer | undefined {
  return image(Buffer.from(output.toString('latin1').trim(), 'base64'))
}

const WAYLAND: ClipboardReader[] = [
  { argv: ['wl-paste', '--no-newline', '--type', 'image/png'], decode: image },
  { argv: ['wl-paste', '--no-newline', '--type', 'text'], decode: text },
]
const X11: ClipboardReader[] = [
  { argv: ['xclip', '-selection', 'clipboard', '-t', 'image/png', '-o'], decode: image },
  { argv: ['xclip', '-selection', 'clipboard', '-o'], decode: text },
  { argv: ['xsel', '-bo'], decode: text },
]
const MAC: ClipboardReader[] = [
  { argv: ['pngpaste', '-'], decode: image },
  { argv: ['osascript', '-e', 'the clipboard as «class PNGf»'], decode: appleImage },
  { argv: ['pbpaste'], decode: text },
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
  { argv: [...POWERSHELL, IMAGE_SCRIPT], decode: base64Image },
  { argv: [...POWERSHELL, TEXT_SCRIPT], decode: text },
]

/** Programs of a clipboard that nobody owns any more may wait for ever. */
const MOST_MS = 5_000

/** What a program writes; undefined when it is not there, fails, or gives too much. */
async function captureOutput(
  argv: ClipboardReader['argv'],
  { processes, env, cwd }: PasteOptions,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (!(await findInstalled(argv[0], { env, cwd }))) return undefined
  await using running = await processes.start({ argv, cwd, env, stdin: 'none' })
  running.stderr.resume()
  const either = AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)])
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
  return { name: 'clipboard.png', mediaType: imageType(found) ?? 'image/png', data: found }
}
