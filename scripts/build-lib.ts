import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { FOR_COMPONENTS } from './components/bundle.ts'
import { ownProduct, writeNotices } from './notices/files.ts'
import { bundledFolders, npmComponents } from './notices/npm.ts'

// npm run build:lib
// Writes dist/lib: the entries `crabtalk/client`, `crabtalk/runtime` and `crabtalk/component` of the package
// as plain modules with their types, and the licenses of everything bundled into them.
const OUT = 'dist/lib'
await rm(OUT, { recursive: true, force: true })
const { metafile: programs } = await build({
  entryPoints: ['src/lib/client.ts', 'src/lib/runtime.ts'],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
})
const { metafile: component } = await build({
  ...FOR_COMPONENTS,
  entryPoints: ['src/lib/component.ts'],
  outdir: OUT,
  metafile: true,
})
const folders = bundledFolders([programs, component])
await writeNotices(OUT, await ownProduct(), await npmComponents(folders))
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.lib.json'], { stdio: 'inherit' })
