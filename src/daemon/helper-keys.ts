import { CrabError, toCrabError } from '../core/base/errors.ts'
import { readStampSync } from '../core/base/file-stamp.ts'
import { isHeaderValue, NOT_A_HEADER_VALUE } from '../core/base/header-value.ts'
import type { ProcessHost } from '../core/process/types.ts'
import { findVaultProvider, HelperKeys } from '../core/provider/helper-keys.ts'
import type { NodeOptions } from './services.ts'

/** The parts of a node that key helpers need. */
export type HelperKeysNode = Pick<NodeOptions, 'env' | 'ownCommand' | 'readVaultKey'> & {
  paths: Pick<NodeOptions['paths'], 'home' | 'vaultChanged'>
}

/**
 * Opens the keys that programs print. A key of the vault is read in this process where that is possible (ADR 0218), any other
 * helper is run as a program.
 */
export function openHelperKeys(
  node: HelperKeysNode,
  processes: ProcessHost,
  shutdown: AbortSignal,
): HelperKeys {
  return new HelperKeys({
    async run(argv) {
      const provider = node.readVaultKey && findVaultProvider(argv)
      if (provider !== undefined) return await readOwn(node, provider)
      return await runKeyHelper(argv, { node, processes }, shutdown)
    },
    stamp() {
      try {
        return readStampSync(node.paths.vaultChanged) ?? ''
      } catch {
        return 'unreadable'
      }
    },
  })
}

async function readOwn({ readVaultKey }: HelperKeysNode, provider: string): Promise<string> {
  try {
    return await readVaultKey!(provider)
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    const why = message.replace(/^Cannot /, 'cannot ')
    throw new CrabError(kind, why, { cause: reason, ...(hint !== undefined && { hint }) })
  }
}

async function runKeyHelper(
  argv: readonly string[],
  { node, processes }: { node: HelperKeysNode; processes: ProcessHost },
  shutdown: AbortSignal,
): Promise<string> {
  const { env, paths, ownCommand } = node
  const { home } = paths
  const [{ prepareHelper }, { runHelper }] = await Promise.all([
    import('../mcp/helper-program.ts'),
    import('../mcp/helper/run-helper.ts'),
  ])
  const inherited = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const own = { command: ownCommand, env, home }
  const program = await prepareHelper('key_helper', { argv, env: Object.fromEntries(inherited) }, own)
  const run = {
    ...program,
    processes,
    cwd: home,
    title: 'key helper' as const,
    parse: parseKey,
    note: () => {},
  }
  return await runHelper({ ...run, listSecrets: (key) => [key], hint: HINT }, shutdown)
}

function parseKey(output: string): string {
  const key = output.trim()
  if (key === '') throw new CrabError('failed', 'it printed nothing')
  if (!isHeaderValue(key)) throw new CrabError('failed', `what it printed ${NOT_A_HEADER_VALUE}`)
  return key
}

const HINT = 'run it by hand: it must print the key and nothing else'
