import type { Host } from '../../cli/host.ts'
import { readStream, unreadable } from '../../cli/named-file.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { SendSettings } from './settings.ts'

/** The time in milliseconds that a pipe may be silent before the user is told what is waited for. */
const HINT_MS = 2_000

/** Reads all of standard input; undefined when there is none. Throws `no-input` when a pipe stays silent. */
export async function readStdin(
  settings: SendSettings,
  host: Host,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const kind = host.stdinKind()
  if (kind === 'terminal' || kind === 'none') return undefined
  const stdin = host.stdin()
  using silence = watchSilence(settings, host, () => stdin.destroy())
  const stop = () => stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const bytes = await readStream(stdin, 'standard input', silence.stop)
    return bytes.length > 0 ? bytes : undefined
  } catch (reason) {
    if (silence.isOver) throw stayedSilent(settings.stdinWaitMs)
    signal.throwIfAborted()
    throw unreadable('standard input', reason, 'add --no-stdin, or redirect it from a file')
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

interface SilenceWatch extends Disposable {
  readonly isOver: boolean
  /** Stops the watch after the first byte. */
  stop(): void
}

function watchSilence(settings: SendSettings, host: Host, onTimeout: () => void): SilenceWatch {
  let over = false
  const hint = setTimeout(() => {
    if (settings.verbosity >= 0)
      host.stderr.write('crabtalk: waiting for standard input (--no-stdin ignores it)\n')
  }, HINT_MS)
  const end = () => {
    over = true
    onTimeout()
  }
  const limit = settings.stdinWaitMs > 0 ? setTimeout(end, settings.stdinWaitMs) : undefined
  const stopTimers = () => {
    clearTimeout(hint)
    clearTimeout(limit)
  }
  return {
    get isOver() {
      return over
    },
    stop: stopTimers,
    [Symbol.dispose]: stopTimers,
  }
}

function stayedSilent(waitedMs: number): CrabError {
  return new CrabError(
    'no-input',
    `Cannot read standard input: the pipe sent nothing for ${waitedMs / 1000} s`,
    {
      hint: 'add --no-stdin, or redirect it from /dev/null',
    },
  )
}
