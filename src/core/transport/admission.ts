import { CrabError } from '../base/errors.ts'
import type { ClientMessage, ServerMessage } from '../protocol/crabtalk.generated.ts'
import { toErrorMsg } from '../protocol/failure.ts'
import { isSameToken } from './token.ts'

/** The first frame of a connection that must show a token. */
const MAX_AUTH_BYTES = 4096

/** Who may use a connection: who shows its token in time, everybody where there is none. */
export class Admission implements Disposable {
  readonly #token: string | undefined
  readonly #reading: AbortController
  readonly #onAdmitted: () => void
  readonly #timer: NodeJS.Timeout | undefined
  #isAdmitted: boolean

  /** Aborts the reading when no token comes in time, or another than this one. */
  constructor(
    token: string | undefined,
    { authMs, reading, onAdmitted }: { authMs: number; reading: AbortController; onAdmitted(): void },
  ) {
    this.#token = token
    this.#reading = reading
    this.#onAdmitted = onAdmitted
    this.#isAdmitted = token === undefined
    if (token === undefined) return
    this.#timer = setTimeout(() => reading.abort(refusal('no token came in time')), authMs)
  }

  /** The most bytes that the first payload may have. */
  get firstLimit(): number | undefined {
    return this.#token === undefined ? undefined : MAX_AUTH_BYTES
  }

  /** Whether a message is not for the dispatch. */
  isFor({ msg }: ClientMessage): boolean {
    return msg?.$case === 'auth' || !this.#isAdmitted
  }

  /** The reply to a message that shows, or should show, the token. */
  answer({ requestId, msg }: ClientMessage): ServerMessage {
    const shown = msg?.$case === 'auth' ? msg.value.token.trimEnd() : undefined // the file ends with a line feed
    if (this.#token === undefined || (shown !== undefined && isSameToken(shown, this.#token))) {
      this.#isAdmitted = true
      this.#onAdmitted()
      this[Symbol.dispose]()
      return { requestId, msg: { $case: 'pong', value: {} } }
    }
    this.#reading.abort()
    const error = refusal(shown === undefined ? 'its first message is not auth' : 'this is not its token')
    return { requestId, msg: { $case: 'error', value: toErrorMsg(error) } }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

function refusal(why: string): CrabError {
  return new CrabError('denied', `Cannot use this connection: ${why}`, {
    hint: 'show the token of run/tcp.token in the home directory of the daemon',
  })
}
