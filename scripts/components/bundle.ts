import { join } from 'node:path'
import type { BuildOptions } from 'esbuild'

const ROOT = join(import.meta.dirname, '../..')

/** How esbuild makes plain modules of components and of what they are built on, for Node 20 and newer. */
export const FOR_COMPONENTS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
  alias: {
    ulid: join(ROOT, 'node_modules/ulid/dist/browser/index.js'), // no node:crypto for what is no secret
    'crabtalk/component': join(ROOT, 'src/lib/component.ts'),
    '@modelcontextprotocol/server/_shims': join(ROOT, 'scripts/sea/mcp-shims.ts'),
  },
  tsconfigRaw: {}, // its paths are for types only
} as const satisfies BuildOptions
