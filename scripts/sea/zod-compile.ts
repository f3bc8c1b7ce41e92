import { type Patch, replaceOnly } from './patch.ts'

/** Patches zod to compile a parser for an object schema only once it has parsed some objects. */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]zod[\\/]v4[\\/]core[\\/]schemas\.js$/, patch: compileLater },
]

/** The number of objects after which a compiled parser saves more than compiling it takes. */
const COMPILE_AFTER = 16

/** Returns the module with a counter in front of the parsers it compiles. */
export function compileLater(module: string): string | undefined {
  const counted = replaceOnly(module, '    let fastpass;\n', '    let fastpass;\n    let parsed = 0;\n')
  const condition = 'if (jit && fastEnabled && ctx?.async === false'
  return counted && replaceOnly(counted, condition, `${condition} && ++parsed > ${COMPILE_AFTER}`)
}
