import type { Effort } from '../base/effort.ts'
import type { JsonObject } from '../base/message.ts'
import { changeConfig } from './change-config.ts'
import type { HomePaths } from './paths.ts'
import { isTable } from './schema.ts'

/** The default model and its reasoning effort, as far as they change; an empty effort is removed. */
export interface DefaultModelChange {
  model?: string
  effort?: Effort | ''
}

/**
 * Writes the default model into config.toml, in its existing place or at the top. Lease and failures are
 * those of changeConfig().
 */
export async function writeDefaultModel(
  paths: Pick<HomePaths, 'config'>,
  { model, effort }: DefaultModelChange,
): Promise<void> {
  await changeConfig(paths, (table) => {
    const chosen = model === undefined ? table : withModel(table, model)
    return effort === undefined ? chosen : withEffort(chosen, effort)
  })
}

function withEffort(table: JsonObject, effort: Effort | ''): JsonObject {
  const { effort: _, ...rest } = table
  if (effort === '') return rest
  return Object.hasOwn(table, 'effort') ? { ...table, effort } : { ...rest, effort }
}

/** Returns the table of config.toml with another default model. */
export function withModel(table: JsonObject, model: string): JsonObject {
  const { llm } = table
  const isInLlm = isTable(llm) && Object.hasOwn(llm, 'model')
  return isInLlm ? { ...table, llm: { ...llm, model } } : { ...table, model }
}
