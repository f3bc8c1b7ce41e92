import { enableCompileCache } from 'node:module'
import { resolve } from 'node:path'

// As a preload: test files and the programs they start load what others have compiled. Half of most of them was loading the same sources.
const folder = resolve(import.meta.dirname, '../../node_modules/.cache/compiled')
process.env['NODE_COMPILE_CACHE'] ??= folder
enableCompileCache(folder)
