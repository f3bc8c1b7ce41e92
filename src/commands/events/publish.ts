import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { CommandHandler } from '../command.ts'
import { requireDaemon } from '../follow/require-daemon.ts'
import type { Host } from '../host.ts'
import { STDIN } from '../message-part.ts'
import { readStream, toText, unreadable } from '../named-file.ts'

/** `crabtalk events publishEventCommand`: gives the event to the daemon and prints its id. */
export const publishEventCommand: CommandHandler = async ({ options, host, signal }) => {
  const [source = '', given] = options.args
  const payload = await readPayload(given, host)
  const id = newUlid()
  await using attached = await requireDaemon(host, {}, signal)
  await request(attached.dispatch, 'publishEvent', { source, payload, id }, signal)
  host.stdout.write(`${id}\n`)
  return 0
}

/** What was given; `-` stands for standard input, and so does nothing where somebody else writes that. */
async function readPayload(given: string | undefined, host: Host): Promise<string> {
  if (given !== undefined && given !== '-') return given
  const kind = host.stdinKind()
  if (kind === 'none' || (given === undefined && kind === 'terminal')) return ''
  const stdin = host.stdin()
  let isSilent = false
  const giveUp = () => {
    isSilent = true
    stdin.destroy()
  }
  const silence = given === undefined ? setTimeout(giveUp, SILENCE_MS) : undefined
  try {
    const bytes = await readStream(stdin, STDIN, () => clearTimeout(silence))
    return toText(bytes, STDIN).replace(/\r?\n$/, '')
  } catch (reason) {
    throw isSilent ? stayedSilent() : unreadable(STDIN, reason, 'give the payload as an argument')
  } finally {
    clearTimeout(silence)
  }
}

/** A pipe that was inherited and that nobody writes to must not keep a program for ever. */
const SILENCE_MS = 30_000

function stayedSilent(): CrabError {
  return new CrabError('no-input', `Cannot read ${STDIN}: the pipe said nothing for ${SILENCE_MS / 1000} s`, {
    hint: 'give the payload as an argument, or redirect standard input from /dev/null',
  })
}
