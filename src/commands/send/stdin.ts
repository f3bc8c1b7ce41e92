import { CrabError } from '../../core/base/errors.ts'
import type { Host } from '../host.ts'
import { readStream, unreadable } from '../named-file.ts'
import type { SendSettings } from './settings.ts'

/** How long a pipe may be silent before a person is told what is being waited for. */
const HINT_MS = 2_000

/** All of standard input; undefined when there is none. Throws `no-input` when a pipe stays silent. */
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
  /** The first byte came: nothing is waited for any more. */
  stop(): void
}

function watchSilence(settings: SendSettings, host: Host, giveUp: () => void): SilenceWatch {
  let over = false
  const hint = setTimeout(() => {
    if (settings.verbosity >= 0)
      host.stderr.write('crabtalk: waiting for standard input (--no-stdin ignores it)\n')
  }, HINT_MS)
  const end = () => {
    over = true
    giveUp()
  }
  const limit = settings.stdinWaitMs > 0 ? setTimeout(end, settings.stdinWaitMs) : undefined
  const heard = () => {
    clearTimeout(hint)
    clearTimeout(limit)
  }
  return {
    get isOver() {
      return over
    },
    stop: heard,
    [Symbol.dispose]: heard,
  }
}

function stayedSilent(waitedMs: number): CrabError {
  return new CrabError(
    'no-input',
    `Cannot read standard input: the pipe said nothing for ${waitedMs / 1000} s`,
    {
      hint: 'add --no-stdin, or redirect it from /dev/null',
    },
  )
}
