import { delimiter, isAbsolute } from 'node:path'
import { lazy } from '../../base/lazy.ts'
import type { ProcessHost } from '../../process/types.ts'
import type { SearchEngine } from './engine.ts'

export interface EngineOptions {
  processes: ProcessHost
  /** The path of the ripgrep that comes with this program; undefined when none does. Asked once. */
  ripgrep(): Promise<string | undefined>
  /** Of this process; its PATH may name another ripgrep. */
  env: Readonly<Record<string, string | undefined>>
}

/** Chooses on the first call: the ripgrep of this program, one of the system, or JavaScript. */
export function chooseEngine({ processes, ripgrep, env }: EngineOptions): () => Promise<SearchEngine> {
  const folders = env['PATH']?.split(delimiter).filter((folder) => isAbsolute(folder)) ?? []
  const found = lazy(async () => {
    const { isRipgrep, ripgrepEngine } = await import('./ripgrep.ts')
    for (const program of [await ripgrep(), 'rg']) {
      if (program === undefined) continue
      const options = { processes, program, env: { PATH: folders.join(delimiter) } }
      if (await isRipgrep(options)) return ripgrepEngine(options)
    }
    const { javascriptEngine } = await import('./javascript.ts')
    return javascriptEngine()
  })
  return () => found.get()
}
