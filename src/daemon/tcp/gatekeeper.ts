import { toCrabError } from '../../core/base/errors.ts'
import type { TcpClient } from '../../core/policy/trust.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { toErrorMsg } from '../../core/protocol/failure.ts'
import type { Gatekeeper } from '../../core/transport/admission.ts'
import type { RefusalLog } from './refusal-log.ts'
import type { OpenToken, TokenBook } from './token-book.ts'

interface GatekeeperOptions {
  book: TokenBook
  refusals: RefusalLog
  /** Creates the dispatch of one client. */
  serve(client: TcpClient): Dispatch
  /** Creates the client's dispatch for as long as it uses no addition to the fixed protocol. */
  serveFixed(client: TcpClient): Dispatch
}

/** Admits clients by their tokens, and serves each within the limits of its own. */
export function tcpGatekeeper({ book, refusals, serve, serveFixed }: GatekeeperOptions): Gatekeeper {
  return {
    async admit(shown, address) {
      const open = await book.find(shown)
      if (!open) return undefined
      const { token, ended } = open
      book.used(token.name)
      const client: TcpClient = {
        kind: 'tcp',
        token,
        isTaken: (name) => book.isTaken(name),
        refused: (operation, reason) => refusals.add({ address, operation, reason, token: token.name }),
      }
      const limit = (dispatch: Dispatch) => whileOpen(dispatch, book, open)
      return { dispatch: limit(serve(client)), fixedDispatch: limit(serveFixed(client)), ended }
    },
    refused: (address, reason) => refusals.add({ address, reason }),
  }
}

/** Serves messages while the token is valid, which it checks before each message. */
function whileOpen(dispatch: Dispatch, book: TokenBook, { token, ended }: OpenToken): Dispatch {
  return async function* (message, signal) {
    await book.refresh()
    if (ended.aborted) {
      const error = toErrorMsg(toCrabError(ended.reason))
      yield { requestId: message.requestId, msg: { $case: 'error', value: error } }
      return
    }
    book.used(token.name)
    yield* dispatch(message, signal)
  }
}
