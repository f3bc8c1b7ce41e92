import { basename, join } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { toChunk } from './chunk.ts'
import { mcpTransports } from './mcp-transports.ts'
import { packages } from './packages.ts'

/** The program as scripts: what the binary starts with, and the chunks behind it. */
export interface Bundle {
  boot: string
  /** Wrapped by file name, in the order of the names; `run.js` is loaded first. */
  chunks: Map<string, string>
  /** What went into which chunk, for esbuild's analyser. */
  metafile: Metafile
}

const COMMON = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node26',
  charset: 'ascii', // a chunk is read as one byte per character
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"' },
  tsconfigRaw: {}, // its paths are for types only
} as const satisfies BuildOptions

/** The program of a worker as one script. */
export async function bundleWorker(main: string): Promise<string> {
  const { outputFiles } = await build({ ...COMMON, entryPoints: [main], format: 'cjs', minify: true })
  return outputFiles[0]!.text
}

/** Bundles the boot script, and the program split at every `import()`, so that a command loads only what it uses. */
export async function bundle(boot: string, main: string): Promise<Bundle> {
  const [bootResult, mainResult] = await Promise.all([
    build({ ...COMMON, entryPoints: [boot], format: 'cjs', minify: true }),
    build({
      ...COMMON,
      entryPoints: [main],
      outdir: 'dist',
      format: 'esm',
      splitting: true,
      minifySyntax: true,
      metafile: true,
      alias: {
        ulid: join(import.meta.dirname, '../../node_modules/ulid/dist/browser/index.js'), // no node:crypto
        '@modelcontextprotocol/client/_shims': join(import.meta.dirname, 'mcp-shims.ts'),
        '@modelcontextprotocol/server/_shims': join(import.meta.dirname, 'mcp-shims.ts'),
      },
      jsx: 'automatic',
      inject: [join(import.meta.dirname, 'clock.ts')],
      plugins: [mcpTransports, packages],
    }),
  ])
  const chunks = await Promise.all(
    mainResult.outputFiles.map(
      async ({ path, text }) => [basename(path), await toChunk(basename(path), text)] as const,
    ),
  )
  return {
    boot: bootResult.outputFiles[0]!.text,
    chunks: new Map(chunks.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    metafile: mainResult.metafile,
  }
}
