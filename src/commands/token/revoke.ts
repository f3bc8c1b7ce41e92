import type { CommandHandler } from '../../cli/command.ts'
import { BUILT_IN_TOKEN } from '../../core/base/token-name.ts'
import { noSuchToken, removeToken } from '../../core/tokens/token-file.ts'
import { replaceToken } from '../../core/transport/token.ts'
import { listTokens } from './list.ts'
import { openTokens } from './store.ts'

/** Runs `crabtalk token revoke`; a running daemon notices the change by itself. */
export const revokeTokenCommand: CommandHandler = async ({ options, host, signal }) => {
  const name = options.args[0] ?? ''
  await using tokens = await openTokens(host)
  if (name !== BUILT_IN_TOKEN) {
    await removeToken(tokens, name, signal)
    host.stdout.write(`revoked ${name}\n`)
    return 0
  }
  if (!(await listTokens(tokens.run)).some((one) => one.name === BUILT_IN_TOKEN)) throw noSuchToken(name)
  await replaceToken(tokens.run)
  host.stdout.write('revoked tcp; run/tcp.token has a new one\n')
  return 0
}
