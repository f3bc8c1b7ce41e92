import { BUILT_IN } from '../../core/base/token-name.ts'
import { noSuchToken, removeToken } from '../../core/tokens/token-file.ts'
import { replaceToken } from '../../core/transport/token.ts'
import type { Run } from '../command.ts'
import { listTokens } from './list.ts'
import { openTokens } from './store.ts'

/** `crabtalk token revoke`: a running daemon notices by itself. */
export const revoke: Run = async ({ options, host, signal }) => {
  const name = options.args[0] ?? ''
  await using tokens = await openTokens(host)
  if (name !== BUILT_IN) {
    await removeToken(tokens, name, signal)
    host.stdout.write(`revoked ${name}\n`)
    return 0
  }
  if (!(await listTokens(tokens.run)).some((one) => one.name === BUILT_IN)) throw noSuchToken(name)
  await replaceToken(tokens.run)
  host.stdout.write('revoked tcp; run/tcp.token has a new one\n')
  return 0
}
