import { transform } from 'esbuild'
import { WRAPPER } from '../../bin/chunks.ts'

/**
 * The end of a module that esbuild has bundled. Its modules never import each other in a circle, so exporting
 * last is safe.
 */
const EXPORTS = /(?:^|\n)export \{\n([^{}]*)\n\};\n$/
/** A dynamic import in esbuild's output. */
const LATER = /\bimport\("(\.\/[\w.-]+\.js)"\)/g

/**
 * Converts an ES module bundled by esbuild to a script for `chunkLoader`. esbuild's own CommonJS output would
 * add 1 KB of helpers to each of some 200 chunks, resolve imports in two steps, and copy the result of each
 * `import()`.
 */
export async function toChunk(name: string, module: string): Promise<string> {
  const { code } = await transform(
    module.replace(EXPORTS, (_, names) => toReveal(names, module)).replace(LATER, '__later("$1")'),
    {
      ...{ format: 'cjs', platform: 'node', target: 'node26', charset: 'ascii', legalComments: 'none' },
      supported: { 'dynamic-import': false },
      minifyWhitespace: true,
      lineLimit: 200, // so that a line number in a stack trace is specific
      logOverride: { 'empty-import-meta': 'silent' }, // only a warning there; checked below
    },
  )
  if (/\bimport_meta\b/.test(code)) {
    throw new Error(`Cannot bundle ${name}: import.meta means nothing inside the binary`)
  }
  const [, unknown] = /\bperformance\d*\.(?!now\b)(\w+)/.exec(code) ?? []
  if (unknown) throw new Error(`Cannot bundle ${name}: scripts/sea/clock.ts has no ${unknown}`)
  if (code.includes('stdin_exports')) throw new Error(`Cannot bundle ${name}: it exports in new ways`)
  return WRAPPER[0] + escapeWide(code) + WRAPPER[1]
}

/**
 * Escapes what does not fit into one byte. esbuild's `ascii` leaves it in regular expressions, which it does not
 * parse.
 */
function escapeWide(code: string): string {
  return code.replace(/[\u0100-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Converts an export list `a as b, c` to the call that registers it with the loader: constant exports by
 * value, the others as getters.
 */
function toReveal(names: string, module: string): string {
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

/** Matches an assignment of any kind to a variable, not to a property. */
const WRITE =
  /(?<![\w$.])(?:(?:\+\+|--)([\w$]+)|([\w$]+)\s*(?:\+\+|--|(?:[-+%/&|^]|\*\*?|&&|\|\||\?\?|<<|>>>?)?=(?![=>])))/g

/** Counts the assignments to each name. Names in inner functions count too, so the count may be too high. */
function countWrites(module: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [, before, behind] of module.matchAll(WRITE)) {
    const name = before ?? behind!
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** Whether an export keeps its value after the module first ran; false in case of doubt. */
function isFixed(name: string, module: string, writes: number): boolean {
  const own = name.replaceAll('$', '\\$')
  if (new RegExp(`^(?:(?:async )?function\\*?|class) ${own}\\b`, 'm').test(module)) return writes === 0
  return writes === 1 && new RegExp(`^(?:var|let|const) (?:.*, )?${own} = `, 'm').test(module)
}
