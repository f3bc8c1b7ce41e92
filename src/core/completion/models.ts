import type { Config } from '../config/config.ts'
import { openModels } from '../provider/discover.ts'

/** A model as it is completed. */
export interface ListedModel {
  name: string
  provider: string
}

/** Lists the models of all sources if these answer before the signal aborts, else those known without a query. */
export async function listModelNames(
  options: { config: Config; env: Readonly<Record<string, string | undefined>> },
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const registry = await openModels(options, signal)
  const all = await Promise.race([
    registry.listAll(signal).then(({ models }) => models),
    new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
  ])
  return all ?? registry.list()
}
