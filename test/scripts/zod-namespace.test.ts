import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { build } from 'esbuild'
import { packages } from '../../scripts/sea/packages.ts'
import { importNamespaces } from '../../scripts/sea/zod-namespace.ts'

const WIRES = ['anthropic', 'responses', 'openai-compatible', 'google', 'bedrock']
const ENTRIES = [
  'anthropic/dist/internal',
  'openai/dist/internal',
  'google/dist/internal',
  'openai-compatible/dist',
  'amazon-bedrock/dist',
]

test('packages removes the parts of zod that no wire uses', async () => {
  const { metafile } = await build({
    entryPoints: WIRES.map((name) => `src/core/provider/${name}.ts`),
    outdir: 'dist',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    plugins: [packages],
  })
  for (const [output, { inputs }] of Object.entries(metafile.outputs)) {
    const unused = Object.entries(inputs).filter(([path, { bytesInOutput }]) => {
      return bytesInOutput > 0 && /zod\/v4\/(classic\/from-json-schema|core\/compile)\.js$/.test(path)
    })
    assert.deepEqual(unused, [], output)
  }
})

for (const name of ENTRIES) {
  test(`importNamespaces() leaves no other import of zod in the installed @ai-sdk/${name}`, async () => {
    const url = new URL(`../../node_modules/@ai-sdk/${name}/index.js`, import.meta.url)
    const imports = importNamespaces(await readFile(url, 'utf8'))!.match(/^import .* from "zod.*$/gm)!
    assert.deepEqual(
      imports.filter((line) => !/^import \* as z\d* from "zod\/v4";$/.test(line)),
      [],
    )
  })
}

test('importNamespaces() rejects a module without such an import', () => {
  assert.equal(importNamespaces('import * as z from "zod/v4";\n'), undefined)
})
