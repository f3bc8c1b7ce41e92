import { join } from 'node:path'
import { build } from 'esbuild'

/** A program of this folder as one file, so that finding modules is not measured: our own are in one file as well. */
export async function bundle(program: string, outfile: string): Promise<void> {
  const entryPoints = [join(import.meta.dirname, program)]
  const common = { bundle: true, platform: 'node', format: 'esm', target: 'node26' } as const
  await build({ ...common, entryPoints, outfile, logLevel: 'warning', banner: { js: REQUIRE } })
}

/** What is bundled of CommonJS asks for modules of Node in its own way. */
const REQUIRE =
  "import { createRequire as __make } from 'node:module'; const require = __make(import.meta.url)"
