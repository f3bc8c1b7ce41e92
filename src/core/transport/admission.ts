import { CrabError } from '../base/errors.ts'
import type { ClientMessage, ServerMessage } from '../protocol/crabtalk.generated.ts'
import type { Dispatch } from '../protocol/dispatch.ts'
import { toErrorMsg } from '../protocol/failure.ts'

/** The maximum size of the first frame of a connection that requires a token. */
const MAX_AUTH_BYTES = 4096

/** A client that was admitted by its token. */
export interface AdmittedClient {
  /** Serves its messages. */
  dispatch: Dispatch
  /** Serves messages that use no additions to the fixed protocol; `dispatch` when absent. */
  fixedDispatch?: Dispatch
  /** Aborted, with a CrabError, when its token is revoked. */
  ended: AbortSignal
}

/** Decides which clients may use a listener. */
export interface Gatekeeper {
  /** Returns the client of a token; undefined for an invalid token. */
  admit(token: string, address: string): Promise<AdmittedClient | undefined>
  /** Called for every refused connection, with the reason. */
  refused(address: string, why: string): void
}

interface AdmissionOptions {
  /** The client's address, such as `127.0.0.1`. */
  address: string
  authMs: number
  /** Aborted when the token is invalid or does not arrive in time. */
  reading: AbortController
  onAdmitted(client: AdmittedClient): void
}

/**
 * Controls access to one connection: admits a client that sends a valid token in time, and any client when
 * there is no gatekeeper.
 */
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
      const why = 'no token arrived in time'
      gatekeeper.refused(options.address, why)
      options.reading.abort(refusal(why))
    }, options.authMs)
  }

  /** The maximum size of the first payload in bytes. */
  get firstLimit(): number | undefined {
    return this.#gatekeeper && MAX_AUTH_BYTES
  }

  /** Whether a message has to be passed to answer() instead of being dispatched. */
  isFor({ msg }: ClientMessage): boolean {
    return msg?.$case === 'auth' || !this.#isAdmitted
  }

  /** Answers a message that contains, or should contain, a token. */
  async answer({ requestId, msg }: ClientMessage): Promise<ServerMessage> {
    // the token file ends with a line feed
    const token = msg?.$case === 'auth' ? msg.value.token.trimEnd() : undefined
    const client = await this.#admit(token)
    if (client || !this.#gatekeeper) {
      this.#isAdmitted = true
      if (client) this.#options.onAdmitted(client)
      this[Symbol.dispose]()
      return { requestId, msg: { $case: 'pong', value: {} } }
    }
    const { address, reading } = this.#options
    const why = token === undefined ? 'its first message is not auth' : 'its token is unknown'
    this.#gatekeeper.refused(address, why)
    reading.abort()
    return { requestId, msg: { $case: 'error', value: toErrorMsg(refusal(why)) } }
  }

  async #admit(token: string | undefined): Promise<AdmittedClient | undefined> {
    if (token === undefined) return undefined
    return await this.#gatekeeper?.admit(token, this.#options.address)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

function refusal(why: string): CrabError {
  return new CrabError('denied', `Cannot use this connection: ${why}`, {
    hint: 'send a token: the one in run/tcp.token in the home directory of the daemon, or one that `crabtalk token new` created',
  })
}
