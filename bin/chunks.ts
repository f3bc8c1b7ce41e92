import { Script } from 'node:vm'

/** Where chunks come from, and what to do with each once it is compiled. */
export interface ChunkSource {
  source(id: string): string
  cache(id: string): Uint8Array | undefined
  compiled?(id: string, script: Script): void
}

/**
 * The wrapper the build puts around a chunk, as Node's own loader does around CommonJS. A chunk first reveals what it
 * exports, as functions that give it.
 */
export const WRAPPER = ['(function (reveal, require) {', '\n})'] as const

type Wrapped = (reveal: (exports: Getters) => void, require: (id: string) => unknown) => void
type Getters = Readonly<Record<string, () => unknown>>

/**
 * The `require` of the bundled program: `./name.js` is a chunk, compiled and run once, on first use; anything else
 * goes to `builtin`.
 */
export function chunkLoader(chunks: ChunkSource, builtin: (id: string) => unknown): (id: string) => unknown {
  const loaded = new Map<string, object>()
  const load = (id: string): unknown => {
    if (!id.startsWith('./')) return builtin(id)
    const name = id.slice(2)
    const known = loaded.get(name)
    if (known !== undefined) return known
    const exports = Object.defineProperty({}, '__esModule', { value: true })
    loaded.set(name, exports)
    try {
      run(name, exports)
    } catch (reason) {
      loaded.delete(name) // it is half made, and runs anew for who asks again
      throw reason
    }
    return exports
  }
  const run = (name: string, exports: object) => {
    const cachedData = chunks.cache(name)
    const script = new Script(chunks.source(name), {
      filename: `crabtalk:${name}`,
      ...(cachedData && { cachedData }),
    })
    chunks.compiled?.(name, script)
    const wrapped: Wrapped = script.runInThisContext()
    wrapped((getters) => define(exports, getters), load)
  }
  return load
}

/** As an `import` sees them: what they are when they are looked at. */
function define(exports: object, getters: Getters): void {
  for (const name in getters) Object.defineProperty(exports, name, { get: getters[name]!, enumerable: true })
}
