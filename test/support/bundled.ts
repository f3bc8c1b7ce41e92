import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { PROGRAMS_FOLDER, ROOT } from './programs.ts'

const CACHE = join(ROOT, 'node_modules/.cache')
const PLACE = join(ROOT, 'test/support/mcp')
/** The programs that tests start hundreds of times, in environments without a compile cache. */
const PROGRAMS = [
  'misbehaving-server',
  'plain-server',
  'asking-server',
  'many-tools-server',
  'plain-http-server',
  'npx-like',
]

/** Runs before all tests: bundles those programs, from this run's sources, into a folder of the run. */
export async function globalSetup(): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const folder = await mkdtemp(join(CACHE, 'programs-'))
  process.env[PROGRAMS_FOLDER] = folder // the processes of test files inherit it
  await build({
    entryPoints: PROGRAMS.map((name) => join(PLACE, `${name}.ts`)),
    outbase: ROOT,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`,
    },
    define: { 'import.meta.dirname': JSON.stringify(PLACE) }, // the programs they start are in that folder
    logLevel: 'error',
  })
}

/** Runs after all tests: removes the bundles. */
export async function globalTeardown(): Promise<void> {
  const folder = process.env[PROGRAMS_FOLDER]
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}
