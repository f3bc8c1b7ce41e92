import { join } from 'node:path'
import type { BuildOptions } from 'esbuild'

const ROOT = join(import.meta.dirname, '../..')

/**
 * The esbuild options for bundling components and the library they use as plain modules, for Node 20 and
 * newer.
 */
export const FOR_COMPONENTS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
  alias: {
    ulid: join(ROOT, 'node_modules/ulid/dist/browser/index.js'), // without node:crypto, since these ids are not secrets
    'crabtalk/component': join(ROOT, 'src/lib/component.ts'),
    '@modelcontextprotocol/server/_shims': join(ROOT, 'scripts/sea/mcp-shims.ts'),
  },
  tsconfigRaw: {}, // its paths are for types only
} as const satisfies BuildOptions
