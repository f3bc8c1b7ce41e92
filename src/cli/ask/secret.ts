import { constants } from 'node:os'
import { CrabError } from '../../core/base/errors.ts'
import type { Host, TerminalStreams } from '../host.ts'

/**
 * Reads a line typed on a terminal without echoing it, so that not even its length shows. Returns undefined
 * at the end of input. Always restores the terminal. Fails with `cancelled` on Ctrl-C and on a signal.
 */
export async function readSecret(
  { screen, host }: { screen: TerminalStreams; host: Pick<Host, 'onSignal'> },
  prompt: string,
): Promise<string | undefined> {
  const { stdin, stdout, hooks } = screen
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  let typed = ''
  const onData = (piece: Buffer) => {
    for (const key of piece.toString()) {
      if (key === '\r' || key === '\n') return resolve(typed)
      if (key === CTRL_C) return reject(new CrabError('cancelled', 'Cancelled'))
      if (key === CTRL_D && typed === '') return resolve(undefined)
      typed = applyKey(typed, key)
    }
  }
  using stack = new DisposableStack()
  stack.use(hooks.onExit(() => hooks.makeCooked()))
  stack.use(
    host.onSignal((name) =>
      reject(new CrabError('cancelled', `Cancelled by ${name} (${constants.signals[name]})`)),
    ),
  )
  stdin.setRawMode(true)
  stack.defer(() => hooks.makeCooked())
  stdin.on('data', onData)
  stdin.resume() // a second question finds the stream paused
  stack.defer(() => {
    stdin.off('data', onData)
    stdin.pause()
  })
  stdout.write(prompt)
  try {
    return await promise
  } finally {
    stdout.write('\r\n')
  }
}

function applyKey(typed: string, key: string): string {
  if (key === BACKSPACE || key === '\b') return [...typed].slice(0, -1).join('')
  if (key === CTRL_U) return ''
  return key < ' ' ? typed : typed + key
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CTRL_U = '\u0015'
const BACKSPACE = '\u007f'
