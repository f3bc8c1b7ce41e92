import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { FOR_COMPONENTS } from './components/bundle.ts'

// npm run build:lib
// Makes dist/lib: the entries `crabtalk/client`, `crabtalk/runtime` and `crabtalk/component` of the package as plain modules
// with their types.
const OUT = 'dist/lib'
await rm(OUT, { recursive: true, force: true })
await build({
  entryPoints: ['src/lib/client.ts', 'src/lib/runtime.ts'],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  legalComments: 'none',
  logLevel: 'warning',
})
await build({ ...FOR_COMPONENTS, entryPoints: ['src/lib/component.ts'], outdir: OUT })
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.lib.json'], { stdio: 'inherit' })
