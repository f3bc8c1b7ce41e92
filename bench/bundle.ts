import { join } from 'node:path'
import { build } from 'esbuild'

/**
 * Bundles a program of this folder into one file, so that module resolution is not measured: the built binary
 * is one file, too.
 */
export async function bundle(program: string, outfile: string): Promise<void> {
  const entryPoints = [join(import.meta.dirname, program)]
  const common = { bundle: true, platform: 'node', format: 'esm', target: 'node26' } as const
  await build({ ...common, entryPoints, outfile, logLevel: 'warning', banner: { js: REQUIRE } })
}

/** Bundled CommonJS code loads Node's modules through `require`. */
const REQUIRE =
  "import { createRequire as __make } from 'node:module'; const require = __make(import.meta.url)"
