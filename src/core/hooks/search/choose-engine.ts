import { delimiter, isAbsolute } from 'node:path'
import { lazy } from '../../base/lazy.ts'
import type { ProcessHost } from '../../process/types.ts'
import type { SearchEngine } from './engine.ts'

/** The dependencies of choosing a search engine. */
export interface EngineOptions {
  processes: ProcessHost
  /** Returns the path of the ripgrep bundled with this program; undefined when there is none. Called once. */
  ripgrep(): Promise<string | undefined>
  /** The environment of this process, whose PATH may lead to another ripgrep. */
  env: Readonly<Record<string, string | undefined>>
}

/** Chooses the engine on the first call: the bundled ripgrep, one of the system, or JavaScript. */
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
