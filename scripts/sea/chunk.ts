import { transform } from 'esbuild'
import { WRAPPER } from '../../bin/chunks.ts'

/** How esbuild ends a module that it has put together. Its modules import each other in no circle: this may come late. */
const EXPORTS = /(?:^|\n)export \{\n([^{}]*)\n\};\n$/

/**
 * An ES module as esbuild bundles it as what `chunkLoader` runs; an `import()` becomes a lazy `require`. esbuild's own
 * CommonJS would begin each of some 200 chunks with 1 KB of helpers, and look up what is imported in two steps.
 */
export async function toChunk(name: string, module: string): Promise<string> {
  const { code } = await transform(
    module.replace(EXPORTS, (_, names) => revealing(names)),
    {
      ...{ format: 'cjs', platform: 'node', target: 'node26', charset: 'ascii', legalComments: 'none' },
      supported: { 'dynamic-import': false },
      minifyWhitespace: true,
      lineLimit: 200, // so that a line of a stack trace is a place
      logOverride: { 'empty-import-meta': 'silent' }, // which is no more than a warning there
    },
  )
  if (/\bimport_meta\b/.test(code)) {
    throw new Error(`Cannot bundle ${name}: import.meta means nothing inside the binary`)
  }
  const [, unknown] = /\bperformance\d*\.(?!now\b)(\w+)/.exec(code) ?? []
  if (unknown) throw new Error(`Cannot bundle ${name}: scripts/sea/clock.ts has no ${unknown}`)
  if (code.includes('stdin_exports')) throw new Error(`Cannot bundle ${name}: it exports in new ways`)
  return WRAPPER[0] + code + WRAPPER[1]
}

/** `a as b, c` as what a chunk tells the loader. */
function revealing(names: string): string {
  const getters = names.split(',').map((entry) => {
    const [inside, outside = inside] = entry.trim().split(' as ')
    return `${outside}: () => ${inside}`
  })
  return `\nreveal({ ${getters.join(', ')} });\n`
}
