import { stat } from 'node:fs/promises'
import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { isMissingFile } from '../../core/base/files.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { BUILT_IN_TOKEN } from '../../core/base/token-name.ts'
import { readTokens, type StoredToken } from '../../core/tokens/token-file.ts'
import { tokenFile } from '../../core/transport/token.ts'

/** A token as it is listed. */
export interface ListedToken {
  name: string
  /** The agent that the token is limited to; null for any agent. */
  agent: string | null
  /** ISO 8601. */
  created: string
  last_used: string | null
}

/** Runs `crabtalk token list`. */
export const listTokensCommand: CommandHandler = async ({ options, host }) => {
  const tokens = await listTokens(resolvePaths(host).run)
  if (options.has('json')) return printJson(host, tokens)
  if (tokens.length === 0) {
    host.stderr.write('crabtalk: no tokens yet; crabtalk token new NAME creates one\n')
    return 0
  }
  const now = Date.now()
  const ago = (time: string | null) => (time === null ? 'never' : relativeTime(time, now))
  const rows = tokens.map((one) => [one.name, one.agent ?? 'any', ago(one.created), ago(one.last_used)])
  await printTable(host, ['NAME', 'AGENT', 'CREATED', 'LAST USE'], rows)
  return 0
}

/** Lists the tokens of a home, the built-in one first. */
export async function listTokens(run: string): Promise<ListedToken[]> {
  const { tokens, lastUse } = await readTokens(run)
  const created = await readBuiltInTime(run)
  const builtIn = created === undefined ? [] : [{ name: BUILT_IN_TOKEN, created }]
  const all: Pick<StoredToken, 'name' | 'agent' | 'created'>[] = [...builtIn, ...tokens]
  return all.map(({ name, agent = null, created }) => {
    return { name, agent, created, last_used: lastUse[name] ?? null }
  })
}

async function readBuiltInTime(run: string): Promise<string | undefined> {
  try {
    return (await stat(tokenFile(run))).mtime.toISOString()
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}
