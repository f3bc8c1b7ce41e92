import { basename } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { changeConfig } from '../../core/config/change-config.ts'
import { toConfig } from '../../core/config/config.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { parseToml } from '../../core/config/toml.ts'
import { renderToml } from '../../core/config/toml-render.ts'
import type { FileIssue } from '../../core/config/validation-issue.ts'
import { withConfigValue } from './keys.ts'

/** A key of config.toml and its new value; undefined removes the key. */
export interface ConfigKeyChange {
  path: readonly string[]
  value: unknown
}

/**
 * Writes a key of config.toml; comments and everything else stay. Throws `invalid` when the new value is not
 * valid, and `config` when the file is not valid TOML. Problems of other keys are not reported.
 */
export async function writeConfigKey(
  { path, value }: ConfigKeyChange,
  host: Host,
  signal: AbortSignal,
): Promise<void> {
  await using locked = await lockConfig(host, signal)
  const { paths } = locked
  await changeConfig(paths, (table) => {
    const changed = withConfigValue(table, path, value)
    refuseNewProblems(basename(paths.config), table, changed)
    return changed
  })
}

/** Keeps other processes from writing config.toml until the result is disposed. */
export async function lockConfig(
  host: Host,
  signal: AbortSignal,
): Promise<AsyncDisposable & { paths: HomePaths }> {
  const { SqliteLeases } = await import('../../core/lease/sqlite-leases.ts')
  const paths = resolvePaths(host)
  await using opened = new AsyncDisposableStack()
  const leases = opened.use(new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid }))
  opened.use(await leases.take(`file:${paths.config}`, signal))
  return Object.assign(opened.move(), { paths })
}

/** Throws the first problem that a change has added; those that were there before are not its fault. */
function refuseNewProblems(file: string, before: JsonObject, after: JsonObject): void {
  const known = new Set(findTableProblems(file, before).map(({ message }) => message))
  const problem = findTableProblems(file, after).find(({ message }) => !known.has(message))
  if (problem === undefined) return
  const { message, hint } = problem
  throw new CrabError('invalid', `Cannot change ${file}: ${message}`, hint === undefined ? {} : { hint })
}

function findTableProblems(file: string, table: JsonObject): readonly FileIssue[] {
  const document = parseToml(file, renderToml(table))
  const outcome = document.ok ? toConfig(document.value) : document
  return outcome.ok ? [] : outcome.problems
}
