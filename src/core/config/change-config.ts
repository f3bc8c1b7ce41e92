import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { readTextFile } from './load-config.ts'
import type { HomePaths } from './paths.ts'
import { isTable } from './schema.ts'
import { parseToml } from './toml.ts'
import { appendToList } from './toml-append.ts'
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
  const edited = editTables(text, table, await change(table))
  if (edited !== text) await writeConfigText({ config }, edited)
}

/** Replaces the text of config.toml, or of the file that it links to. The caller holds the lease. */
export async function writeConfigText({ config }: Pick<HomePaths, 'config'>, text: string): Promise<void> {
  await replaceFile(await resolveTarget(config), text)
}

/** Edits the text like editToml(), but writes a new table as a `[table]` at the end instead of on one line. */
function editTables(text: string, before: JsonObject, after: JsonObject): string {
  const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key) && isFilledTable(after[key]))
  const headers = added.filter((key) => /^[\w-]+$/.test(key))
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = text.trim() === '' ? '' : eol
  const whole = headers.reduce((all, key) => `${all.trimEnd()}${gap && `${eol}${gap}`}[${key}]${eol}`, text)
  const empty = Object.fromEntries(headers.map((key) => [key, {}]))
  return editToml(headers.length === 0 ? text : whole, { ...before, ...empty }, after)
}

function isFilledTable(value: unknown): boolean {
  return isTable(value) && Object.keys(value).length > 0
}

/**
 * Adds a rule to a list of `[permissions]` in config.toml, unless it is there already. The caller holds the lease,
 * and has checked the rule.
 */
export async function addConfigRule(
  { config }: Pick<HomePaths, 'config'>,
  { effect, pattern }: { effect: 'allow' | 'ask' | 'deny'; pattern: string },
): Promise<void> {
  const text = (await readTextFile(config)) ?? ''
  const document = parseToml(basename(config), text)
  if (!document.ok) throw configError(document.problems)
  const { permissions } = document.value.table
  const list = isTable(permissions) ? permissions[effect] : undefined
  const isSame = (one: unknown) =>
    typeof one === 'string' && one.normalize('NFC') === pattern.normalize('NFC')
  if (Array.isArray(list) && list.some(isSame)) return
  await replaceFile(await resolveTarget(config), appendToList(text, ['permissions', effect], pattern))
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
