import { Script } from 'node:vm'

/** Where chunks come from, and what to do with each once it is compiled. */
export interface ChunkSource {
  source(id: string): string
  cache(id: string): Uint8Array | undefined
  compiled?(id: string, script: Script): void
}

/**
 * The wrapper the build puts around a chunk, as Node's own loader does around CommonJS. A chunk ends with revealing what
 * it exports: values, and what may change as functions that give it. `__later` is what was an `import()`.
 */
export const WRAPPER = ['(function (__reveal, require, __later) {', '\n})'] as const

type Wrapped = (
  reveal: (fixed: object, changing?: Getters) => void,
  require: (id: string) => unknown,
  later: (id: string) => Promise<unknown>,
) => void
type Getters = Readonly<Record<string, () => unknown>>

/**
 * The `require` of the bundled program: `./name.js` is a chunk, compiled and run once, on first use; anything else
 * goes to `builtin`. Chunks require each other in no circle.
 */
export function chunkLoader(chunks: ChunkSource, builtin: (id: string) => unknown): (id: string) => unknown {
  const loaded = new Map<string, object>()
  const load = (id: string): unknown => {
    if (!id.startsWith('./')) return builtin(id)
    const name = id.slice(2)
    const known = loaded.get(name)
    if (known !== undefined) return known
    const exports = run(name)
    loaded.set(name, exports) // only now: one that has thrown runs anew for who asks again
    return exports
  }
  const later = (id: string) => Promise.resolve(id).then(load)
  const run = (name: string): object => {
    const cachedData = chunks.cache(name)
    const script = new Script(chunks.source(name), {
      filename: `crabtalk:${name}`,
      ...(cachedData && { cachedData }),
    })
    chunks.compiled?.(name, script)
    const wrapped: Wrapped = script.runInThisContext()
    let exports: object = {}
    const reveal = (fixed: object, changing: Getters = {}) => {
      exports = define(fixed, changing)
    }
    wrapped(reveal, load, later)
    return exports
  }
  return load
}

/** As an `import` sees them: what changes is what it is when it is looked at. */
function define(exports: object, getters: Getters): object {
  for (const name in getters) Object.defineProperty(exports, name, { get: getters[name]!, enumerable: true })
  return exports
}
