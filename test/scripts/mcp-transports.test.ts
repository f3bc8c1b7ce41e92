import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { mcpTransports } from '../../scripts/sea/mcp-transports.ts'
import { packages } from '../../scripts/sea/packages.ts'

const ROOT = join(import.meta.dirname, '../..')

test('mcpTransports keeps HTTP code out of what all MCP servers load', async () => {
  const { metafile } = await build({
    ...{ bundle: true, write: false, metafile: true, splitting: true, format: 'esm', platform: 'node' },
    ...{ absWorkingDir: ROOT, outdir: 'dist', logLevel: 'silent', tsconfigRaw: {} },
    entryPoints: ['src/mcp/connection/sdk.ts', 'src/mcp/remote/sdk-transports.ts'],
    plugins: [mcpTransports, packages],
  })
  const loaded = listInputs(metafile.outputs, 'dist/connection/sdk.js')
  assert.ok(loaded.some((path) => path.includes('@modelcontextprotocol/client/dist/')))
  assert.deepEqual(
    loaded.filter((path) => /eventsource|\?transports/.test(path)),
    [],
  )
  const others = listInputs(metafile.outputs, 'dist/remote/sdk-transports.js')
  assert.ok(others.some((path) => path.endsWith('eventsource/dist/index.js?transports')))
})

type Outputs = Record<string, { inputs: object; imports: { path: string; kind: string }[] }>

/** Lists the inputs of an output with all of its static imports. */
function listInputs(outputs: Outputs, name: string): string[] {
  const { inputs = {}, imports = [] } = outputs[name] ?? {}
  const further = imports.filter(({ kind }) => kind === 'import-statement')
  return [...Object.keys(inputs), ...further.flatMap(({ path }) => listInputs(outputs, path))]
}
