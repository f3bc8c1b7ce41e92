import { Script } from 'node:vm'

/** The source of chunks, and a hook that is called after each is compiled. */
export interface ChunkSource {
  source(id: string): string
  cache(id: string): Uint8Array | undefined
  compiled?(id: string, script: Script): void
}

/**
 * The wrapper that the build puts around a chunk, like Node's own around CommonJS. A chunk ends by revealing
 * its exports: constant values, and getters for those that may change. `__later` replaces `import()`.
 */
export const WRAPPER = ['(function (__reveal, require, __later) {', '\n})'] as const

type Wrapped = (
  reveal: (fixed: object, changing?: Getters) => void,
  require: (id: string) => unknown,
  later: (id: string) => Promise<unknown>,
) => void
type Getters = Readonly<Record<string, () => unknown>>

/**
 * Builds the `require` of the bundled program: `./name.js` is a chunk, compiled and run once, on first use;
 * anything else goes to `builtin`. Chunks must not require each other in a cycle.
 */
export function chunkLoader(chunks: ChunkSource, builtin: (id: string) => unknown): (id: string) => unknown {
  const loaded = new Map<string, object>()
  const load = (id: string): unknown => {
    if (!id.startsWith('./')) return builtin(id)
    const name = id.slice(2)
    const known = loaded.get(name)
    if (known !== undefined) return known
    const exports = run(name)
    loaded.set(name, exports) // only now: a chunk that throws runs again on the next require
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

/** Defines exports like live bindings of `import`: a getter returns the current value. */
function define(exports: object, getters: Getters): object {
  for (const name in getters) Object.defineProperty(exports, name, { get: getters[name]!, enumerable: true })
  return exports
}
