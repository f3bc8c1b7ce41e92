import { Script } from 'node:vm'

/** Where chunks come from, and what to do with each once it is compiled. */
export interface ChunkSource {
  source(id: string): string
  cache(id: string): Uint8Array | undefined
  compiled?(id: string, script: Script): void
}

/** The CommonJS wrapper the build puts around a chunk, as Node's own loader does. */
export const WRAPPER = ['(function (exports, require, module) {', '\n})'] as const

type Wrapped = (exports: object, require: (id: string) => unknown, module: { exports: object }) => void

/**
 * The `require` of the bundled program: `./name.js` is a chunk, compiled and run once, on first use; anything else
 * goes to `builtin`.
 */
export function chunkLoader(chunks: ChunkSource, builtin: (id: string) => unknown): (id: string) => unknown {
  const loaded = new Map<string, { exports: object }>()
  const load = (id: string): unknown => {
    if (!id.startsWith('./')) return builtin(id)
    const name = id.slice(2)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(name, module)
    try {
      run(name, module)
    } catch (reason) {
      loaded.delete(name) // it is half made, and runs anew for who asks again
      throw reason
    }
    return module.exports
  }
  const run = (name: string, module: { exports: object }) => {
    const cachedData = chunks.cache(name)
    const script = new Script(chunks.source(name), {
      filename: `crabtalk:${name}`,
      ...(cachedData && { cachedData }),
    })
    chunks.compiled?.(name, script)
    const wrapped: Wrapped = script.runInThisContext()
    wrapped(module.exports, load, module)
  }
  return load
}
