import { CrabError } from '../base/errors.ts'
import type { ClientMessage, ServerMessage } from '../protocol/crabtalk.generated.ts'
import type { Dispatch } from '../protocol/dispatch.ts'
import { toErrorMsg } from '../protocol/failure.ts'

/** The first frame of a connection that must show a token. */
const MAX_AUTH_BYTES = 4096

/** A client that has shown a token. */
export interface AdmittedClient {
  /** Serves its messages. */
  dispatch: Dispatch
  /** Serves those that use no addition to the fixed protocol; `dispatch` when absent. */
  fixedDispatch?: Dispatch
  /** Aborted, with a CrabError, when its token no longer counts. */
  ended: AbortSignal
}

/** Decides which clients may use a listener. */
export interface Gatekeeper {
  /** Finds the client of a token; undefined for a token that does not count. */
  admit(token: string, address: string): Promise<AdmittedClient | undefined>
  /** Is told of every connection that is refused, with the reason. */
  refused(address: string, why: string): void
}

interface AdmissionOptions {
  /** The client's, such as `127.0.0.1`. */
  address: string
  authMs: number
  /** Aborted when no token comes in time, or one that does not count. */
  reading: AbortController
  onAdmitted(client: AdmittedClient): void
}

/** Tells who may use a connection: clients that show a token in time, and any client where there is no gatekeeper. */
export class Admission implements Disposable {
  readonly #gatekeeper: Gatekeeper | undefined
  readonly #options: AdmissionOptions
  readonly #timer: NodeJS.Timeout | undefined
  #isAdmitted: boolean

  constructor(gatekeeper: Gatekeeper | undefined, options: AdmissionOptions) {
    this.#gatekeeper = gatekeeper
    this.#options = options
    this.#isAdmitted = gatekeeper === undefined
    if (!gatekeeper) return
    this.#timer = setTimeout(() => {
      const why = 'no token came in time'
      gatekeeper.refused(options.address, why)
      options.reading.abort(refusal(why))
    }, options.authMs)
  }

  /** The most bytes that the first payload may have. */
  get firstLimit(): number | undefined {
    return this.#gatekeeper && MAX_AUTH_BYTES
  }

  /** Whether a message is not for the dispatch. */
  isFor({ msg }: ClientMessage): boolean {
    return msg?.$case === 'auth' || !this.#isAdmitted
  }

  /** Answers a message that shows, or should show, a token. */
  async answer({ requestId, msg }: ClientMessage): Promise<ServerMessage> {
    const shown = msg?.$case === 'auth' ? msg.value.token.trimEnd() : undefined // the file ends with a line feed
    const client = await this.#admit(shown)
    if (client || !this.#gatekeeper) {
      this.#isAdmitted = true
      if (client) this.#options.onAdmitted(client)
      this[Symbol.dispose]()
      return { requestId, msg: { $case: 'pong', value: {} } }
    }
    const { address, reading } = this.#options
    const why = shown === undefined ? 'its first message is not auth' : 'its token is not known'
    this.#gatekeeper.refused(address, why)
    reading.abort()
    return { requestId, msg: { $case: 'error', value: toErrorMsg(refusal(why)) } }
  }

  async #admit(shown: string | undefined): Promise<AdmittedClient | undefined> {
    if (shown === undefined) return undefined
    return await this.#gatekeeper?.admit(shown, this.#options.address)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

function refusal(why: string): CrabError {
  return new CrabError('denied', `Cannot use this connection: ${why}`, {
    hint: 'show a token: that of run/tcp.token in the home directory of the daemon, or one that `crabtalk token new` made',
  })
}
