import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'

/**
 * Returns the keys of an entry that --header, --auth, --auth-env and --transport set. Throws `usage`, without
 * any secret.
 */
export function readRemoteOptions(options: ParsedOptions, { env }: Pick<Host, 'env'>): JsonObject {
  const headers = Object.fromEntries(options.values('header').map(readHeader))
  const auth = options.value('auth') ?? readAuth(options.value('auth-env'), env)
  if (options.value('auth') !== undefined && options.value('auth-env') !== undefined) {
    throw new CrabError('usage', 'Cannot combine --auth and --auth-env', { hint: 'give only one of them' })
  }
  const transport = options.value('transport')
  return {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(auth !== undefined && { auth }),
    ...(transport !== undefined && transport !== 'stdio' && { transport }),
  }
}

/** Rejects options for the other kind of server. Throws `usage`. */
export function refuseForeign(options: ParsedOptions, kind: 'address' | 'program'): void {
  const foreign = kind === 'address' ? ['env', 'cwd'] : ['header', 'auth', 'auth-env']
  const name = foreign.find((one) => options.values(one).length > 0)
  const other = kind === 'address' ? 'a program' : 'an address'
  if (name !== undefined) {
    throw new CrabError('usage', `Cannot use --${name}: it is for ${other}, and this is ${ARTICLE[kind]}`, {
      hint: kind === 'address' ? 'an address takes --header and --auth' : 'a program takes --env and --cwd',
    })
  }
  const transport = options.value('transport')
  if (transport !== undefined && (transport === 'stdio') !== (kind === 'program')) {
    throw new CrabError('usage', `Cannot use --transport ${transport}: this is ${ARTICLE[kind]}`, {
      hint: kind === 'address' ? 'an address is http or sse' : 'http and sse are for an address (https://…)',
    })
  }
}

const ARTICLE = { address: 'an address', program: 'a program' } as const

/** Parses `Name: value`, as HTTP writes it. */
function readHeader(text: string): [string, string] {
  const at = text.indexOf(':')
  const name = text.slice(0, at).trim()
  if (at > 0 && name !== '') return [name, text.slice(at + 1).trim()]
  throw new CrabError('usage', 'Cannot use --header: it is not Name: value', {
    hint: "for example --header 'X-Team: core'",
  })
}

function readAuth(variable: string | undefined, env: Host['env']): string | undefined {
  const value = variable === undefined ? undefined : env[variable]
  if (variable === undefined || value) return value
  throw new CrabError('usage', `Cannot use --auth-env: ${variable} is not set here`, {
    hint: `set it, for example with: read -rs ${variable}; export ${variable}`,
  })
}
