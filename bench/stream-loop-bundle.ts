import { join } from 'node:path'
import { build } from 'esbuild'

/** stream-loop.ts as one file, so that finding modules is not measured: our own are in one file as well. */
export async function bundleLoop(outfile: string): Promise<void> {
  const entryPoints = [join(import.meta.dirname, 'stream-loop.ts')]
  const common = { bundle: true, platform: 'node', format: 'esm', target: 'node26' } as const
  await build({ ...common, entryPoints, outfile, logLevel: 'warning' })
}
