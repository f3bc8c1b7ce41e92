import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { isTable } from '../../core/config/schema.ts'
import { parseToml, type TomlDocument } from '../../core/config/toml.ts'
import { formatIssue } from '../../core/config/validation-issue.ts'
import type { EdgeServer, ServerFileProblem, ServerScope } from './types.ts'

/** The servers of a file, and the problems that no single server has. */
export interface ParsedServers {
  servers: readonly EdgeServer[]
  problems: readonly ServerFileProblem[]
}

/** Parses a mcp.toml: one `[server.NAME]` table for each server. A wrong entry costs that server only. */
export function parseTomlServers(text: string, file: string, scope: ServerScope): ParsedServers {
  const document = parseToml(file, text)
  if (!document.ok) {
    const problems = document.problems.map((issue) => ({ file, message: formatIssue(issue) }))
    return { servers: [], problems }
  }
  const { table, lineOf } = document.value
  const { server = {}, ...foreign } = table
  const problems = Object.keys(foreign).map((key) => ({
    file,
    message: `${file}:${lineOf([key])}: unknown key "${key}"`,
    hint: didYouMean(key, ['server']) ?? 'a server is a table [server.NAME]',
  }))
  if (!isTable(server)) {
    const message = `${file}:${lineOf(['server'])}: "server" must be a table`
    return { servers: [], problems: [...problems, { file, message, hint: 'write [server.NAME]' }] }
  }
  const servers = Object.entries(server).map(([name, entry]) =>
    toEdgeServer({ name, entry, scope }, document.value),
  )
  return { servers, problems }
}

/** Returns the server of a `[server.NAME]` table, with what is wrong about it apart from the keys of every entry. */
export function toEdgeServer(
  { name, entry, scope }: { name: string; entry: unknown; scope: ServerScope },
  { file, lineOf }: Pick<TomlDocument, 'file'> & Partial<TomlDocument>,
): EdgeServer {
  const table: JsonObject = isTable(entry) ? entry : {}
  const { oauth = 'auto', oauth_config: oauthConfig, ...rest } = table
  return {
    name,
    table: rest,
    oauth: isOAuth(oauth) ? oauth : 'auto',
    oauthConfig: isTable(oauthConfig) ? oauthConfig : undefined,
    file,
    scope,
    ...(lineOf && { lineOf: (key) => lineOf(['server', name, ...key]) }),
    problem: findProblem(entry, { oauth, oauthConfig }),
    notes: [],
  }
}

function findProblem(
  entry: unknown,
  { oauth, oauthConfig }: { oauth: unknown; oauthConfig: unknown },
): string {
  if (!isTable(entry)) return 'it must be a table'
  if ('name' in entry) return '"name" is given by [server.NAME]'
  if (!isOAuth(oauth)) return '"oauth" must be one of off, auto, manual'
  return oauthConfig === undefined || isTable(oauthConfig) ? '' : '"oauth_config" must be a table'
}

function isOAuth(value: unknown): value is EdgeServer['oauth'] {
  return value === 'off' || value === 'auto' || value === 'manual'
}
