import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { BUNDLES_CRABTALK, PROGRAMS_FOLDER, ROOT } from './programs.ts'

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

const COMMON = {
  outbase: ROOT,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  banner: {
    js: `import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url)`,
  },
  logLevel: 'error',
} as const satisfies BuildOptions

/**
 * Runs before all tests: bundles those programs, from this run's sources, into a folder of the run, and
 * crabtalk as well when enough tests start it.
 */
export async function globalSetup(): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const outdir = await mkdtemp(join(CACHE, 'programs-'))
  process.env[PROGRAMS_FOLDER] = outdir // the processes of test files inherit it
  await Promise.all([
    build({
      ...COMMON,
      outdir,
      entryPoints: PROGRAMS.map((name) => join(PLACE, `${name}.ts`)),
      define: { 'import.meta.dirname': JSON.stringify(PLACE) }, // the programs they start are in that folder
    }),
    process.env[BUNDLES_CRABTALK] === '1' &&
      build({
        ...COMMON,
        outdir,
        entryPoints: [join(ROOT, 'bin/crabtalk.ts')],
        jsx: 'automatic',
        external: ['react-devtools-core'], // Ink loads it only for its own developers
        tsconfigRaw: {}, // its paths are for types only
      }),
    symlink(join(ROOT, 'src'), join(outdir, 'src')), // where crabtalk looks for its search worker
  ])
}

/** Runs after all tests: removes the bundles. */
export async function globalTeardown(): Promise<void> {
  const folder = process.env[PROGRAMS_FOLDER]
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}
