import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { replaceFile } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { readText } from './load-config.ts'
import type { HomePaths } from './paths.ts'
import { configError } from './problem.ts'
import { isTable } from './schema.ts'
import { parseToml } from './toml.ts'
import { editToml } from './toml-edit.ts'

/**
 * Writes the default model into config.toml, where it stands already or at the top; all else stays as it is written.
 *
 * The caller holds the lease `file:<config.toml>`. Fails with `config` for a file that cannot be read as TOML.
 */
export async function writeDefaultModel({ config }: Pick<HomePaths, 'config'>, model: string): Promise<void> {
  const text = (await readText(config)) ?? ''
  const document = parseToml(basename(config), text)
  if (!document.ok) throw configError(document.problems)
  const { table } = document.value
  const edited = editToml(text, table, withModel(table, model))
  const target = await realpath(config).catch(() => config) // not there yet
  if (edited !== text) await replaceFile(target, edited)
}

function withModel(table: JsonObject, model: string): JsonObject {
  const { llm } = table
  const isInLlm = isTable(llm) && Object.hasOwn(llm, 'model')
  return isInLlm ? { ...table, llm: { ...llm, model } } : { ...table, model }
}
