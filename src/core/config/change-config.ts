import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { readTextFile } from './load-config.ts'
import type { HomePaths } from './paths.ts'
import { parseToml } from './toml.ts'
import { editToml } from './toml-edit.ts'
import { configError } from './validation-issue.ts'

/**
 * Applies `change` to config.toml. Comments and unchanged parts keep their text.
 *
 * The caller holds the lease `file:<config.toml>`. Throws `config` when the file is not valid TOML.
 */
export async function changeConfig(
  { config }: Pick<HomePaths, 'config'>,
  change: (table: JsonObject) => JsonObject | Promise<JsonObject>,
): Promise<void> {
  const text = (await readTextFile(config)) ?? ''
  const document = parseToml(basename(config), text)
  if (!document.ok) throw configError(document.problems)
  const { table } = document.value
  const edited = editToml(text, table, await change(table))
  if (edited !== text) await replaceFile(await resolveTarget(config), edited)
}

/** Resolves links, even when the final target does not exist yet. */
async function resolveTarget(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (reason) {
    if (!isMissingFile(reason)) throw toStorageError(`Cannot write ${path}`, reason)
  }
  const link = await readlink(path).catch(() => undefined) // the path does not exist at all
  return link === undefined ? path : await resolveTarget(resolve(await realpath(dirname(path)), link))
}
