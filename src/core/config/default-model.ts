import type { JsonObject } from '../base/message.ts'
import { changeConfig } from './change-config.ts'
import type { HomePaths } from './paths.ts'
import { isTable } from './schema.ts'

/**
 * Writes the default model into config.toml, in its existing place or at the top. Lease and failures are
 * those of changeConfig().
 */
export async function writeDefaultModel(paths: Pick<HomePaths, 'config'>, model: string): Promise<void> {
  await changeConfig(paths, (table) => withModel(table, model))
}

/** Returns the table of config.toml with another default model. */
export function withModel(table: JsonObject, model: string): JsonObject {
  const { llm } = table
  const isInLlm = isTable(llm) && Object.hasOwn(llm, 'model')
  return isInLlm ? { ...table, llm: { ...llm, model } } : { ...table, model }
}
