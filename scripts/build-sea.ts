import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildBinary } from './sea/build.ts'

// npm run build -- [--out FILE] [--exe NODE] [--no-strip] [--no-code-cache]
// Writes dist/crabtalk and its link crabup.
const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/crabtalk' },
    exe: { type: 'string' }, // a Node of the same version for another platform
    'no-strip': { type: 'boolean', default: false },
    'no-code-cache': { type: 'boolean', default: false },
  },
})
const begin = performance.now()
await buildBinary({
  out: resolve(options.out),
  node: options.exe ?? process.execPath,
  strips: !options['no-strip'],
  hasCodeCache: !options['no-code-cache'],
  report: (what) => console.log(`${((performance.now() - begin) / 1000).toFixed(1).padStart(5)} s  ${what}`),
})
