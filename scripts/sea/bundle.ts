import { basename, join } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { toChunk } from './chunk.ts'
import { mcpTransports } from './mcp-transports.ts'
import { packages } from './packages.ts'
import { wireConstants } from './wire-constants.ts'

/** The bundled program: the binary's boot script, and the chunks it loads. */
export interface Bundle {
  boot: string
  /** Wrapped chunks by file name, sorted; `run.js` is loaded first. */
  chunks: Map<string, string>
  /** The inputs of each chunk, for esbuild's analyzer. */
  metafile: Metafile
  /** The inputs of the boot script. */
  bootMetafile: Metafile
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

/** Bundles a program into one file, for example a worker, with the list of its inputs. */
export async function bundleScript(main: string): Promise<{ text: string; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    entryPoints: [main],
    outdir: 'dist',
    format: 'cjs',
    minify: true,
    metafile: true,
  })
  return { text: outputFiles[0]!.text, metafile }
}

/**
 * Bundles the boot script, and the program split at every `import()`, so that a command loads only what it
 * uses.
 */
export async function bundle(boot: string, main: string): Promise<Bundle> {
  const [bootResult, mainResult] = await Promise.all([
    bundleScript(boot),
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
      plugins: [mcpTransports, wireConstants, packages],
    }),
  ])
  const chunks = await Promise.all(
    mainResult.outputFiles.map(
      async ({ path, text }) => [basename(path), await toChunk(basename(path), text)] as const,
    ),
  )
  return {
    boot: bootResult.text,
    chunks: new Map(chunks.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    metafile: mainResult.metafile,
    bootMetafile: bootResult.metafile,
  }
}
