import { transform } from 'esbuild'
import { WRAPPER } from '../../bin/chunks.ts'

/** How esbuild ends a module that it has put together. Its modules import each other in no circle: this may come late. */
const EXPORTS = /(?:^|\n)export \{\n([^{}]*)\n\};\n$/
/** How it imports another one later. */
const LATER = /\bimport\("(\.\/[\w.-]+\.js)"\)/g

/**
 * An ES module as esbuild bundles it as what `chunkLoader` runs. esbuild's own CommonJS would begin each of some 200
 * chunks with 1 KB of helpers, look up what is imported in two steps, and copy what an `import()` gives.
 */
export async function toChunk(name: string, module: string): Promise<string> {
  const { code } = await transform(
    module.replace(EXPORTS, (_, names) => revealing(names, module)).replace(LATER, '__later("$1")'),
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

/** `a as b, c` as what a chunk tells the loader: what stays as it is by value, the rest as functions that give it. */
function revealing(names: string, module: string): string {
  const writes = countWrites(module)
  const [fixed, changing]: [string[], string[]] = [[], []]
  for (const entry of names.split(',')) {
    const [inside = '', outside = inside] = entry.trim().split(' as ')
    if (isFixed(inside, module, writes.get(inside) ?? 0)) fixed.push(`${outside}: ${inside}`)
    else changing.push(`${outside}: () => ${inside}`)
  }
  const getters = changing.length > 0 ? `, { ${changing.join(', ')} }` : ''
  return `\n__reveal({ ${fixed.join(', ')} }${getters});\n`
}

/** An assignment, of whatever kind, to what is no property. */
const WRITE =
  /(?<![\w$.])(?:(?:\+\+|--)([\w$]+)|([\w$]+)\s*(?:\+\+|--|(?:[-+%/&|^]|\*\*?|&&|\|\||\?\?|<<|>>>?)?=(?![=>])))/g

/** How often each name is assigned to; names of inner functions count as well, so it may be too many. */
function countWrites(module: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [, before, behind] of module.matchAll(WRITE)) {
    const name = before ?? behind!
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** Whether a name of the module means the same from the end of its first run on. In doubt it does not. */
function isFixed(name: string, module: string, writes: number): boolean {
  const own = name.replaceAll('$', '\\$')
  if (new RegExp(`^(?:(?:async )?function\\*?|class) ${own}\\b`, 'm').test(module)) return writes === 0
  return writes === 1 && new RegExp(`^(?:var|let|const) (?:.*, )?${own} = `, 'm').test(module)
}
