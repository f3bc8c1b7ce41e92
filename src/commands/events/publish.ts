import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { STDIN } from '../../cli/message-part.ts'
import { readStream, toText, unreadable } from '../../cli/named-file.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import { request } from '../../core/protocol/dispatch.ts'

/** Runs `crabtalk events publish`: sends the event to the daemon and prints its id. */
export const publishEventCommand: CommandHandler = async ({ options, host, signal }) => {
  const [source = '', argument] = options.args
  const payload = await readPayload(argument, host)
  const id = newUlid()
  await using attached = await requireDaemon(host, { task: 'publish the event' }, signal)
  await request(attached.dispatch, 'publishEvent', { source, payload, id }, signal)
  host.stdout.write(`${id}\n`)
  return 0
}

/**
 * Returns the payload argument; `-` means standard input, and so does no argument when standard input is a
 * pipe or a file.
 */
async function readPayload(argument: string | undefined, host: Host): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument
  const kind = host.stdinKind()
  if (kind === 'none' || (argument === undefined && kind === 'terminal')) return ''
  const stdin = host.stdin()
  let isSilent = false
  const onSilence = () => {
    isSilent = true
    stdin.destroy()
  }
  const silence = argument === undefined ? setTimeout(onSilence, SILENCE_MS) : undefined
  try {
    const bytes = await readStream(stdin, STDIN, () => clearTimeout(silence))
    return toText(bytes, STDIN).replace(/\r?\n$/, '')
  } catch (reason) {
    throw isSilent ? stayedSilent() : unreadable(STDIN, reason, 'give the payload as an argument')
  } finally {
    clearTimeout(silence)
  }
}

/**
 * The timeout in milliseconds of a pipe: one that was inherited, and that no program writes to, must not
 * block forever.
 */
const SILENCE_MS = 30_000

function stayedSilent(): CrabError {
  return new CrabError('no-input', `Cannot read ${STDIN}: the pipe sent nothing for ${SILENCE_MS / 1000} s`, {
    hint: 'give the payload as an argument, or redirect standard input from /dev/null',
  })
}
