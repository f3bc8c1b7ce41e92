import { enableCompileCache } from 'node:module'
import { resolve } from 'node:path'

// As a preload: test files load what others have compiled. Half of most of them was loading the same sources.
enableCompileCache(resolve(import.meta.dirname, '../../node_modules/.cache/compiled'))
