import type { Effort } from '../base/effort.ts'
import type { JsonObject } from '../base/message.ts'
import { changeConfig } from './change-config.ts'
import type { HomePaths } from './paths.ts'
import { isTable } from './schema.ts'

/** The default model and its reasoning effort, as far as they change; an empty effort is removed. */
export interface DefaultModelChange {
  model?: string
  effort?: Effort | ''
  /** The context window to store in the table of the model's provider, if it has one. */
  window?: ContextWindow
}

/** The context window of a model of a provider. */
export interface ContextWindow {
  provider: string
  /** The provider's own name of the model. */
  model: string
  tokens: number
}

/**
 * Writes the default model into config.toml, in its existing place or at the top. Lease and failures are
 * those of changeConfig().
 */
export async function writeDefaultModel(
  paths: Pick<HomePaths, 'config'>,
  { model, effort, window }: DefaultModelChange,
): Promise<void> {
  await changeConfig(paths, (table) => {
    const chosen = model === undefined ? table : withModel(table, model)
    const levelled = effort === undefined ? chosen : withEffort(chosen, effort)
    return window === undefined ? levelled : withContextWindow(levelled, window)
  })
}

/** Returns the table of config.toml with the context window of a model in the table of its provider. */
export function withContextWindow(table: JsonObject, { provider, model, tokens }: ContextWindow): JsonObject {
  const { providers } = table
  if (!Array.isArray(providers)) return table
  const add = (one: JsonObject) => ({
    ...one,
    context: { ...(isTable(one['context']) && one['context']), [model]: tokens },
  })
  const changed = providers.map((one) => (isTable(one) && one['name'] === provider ? add(one) : one))
  return { ...table, providers: changed }
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
