import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { importNamespaces } from '../../scripts/sea/zod-namespace.ts'

for (const name of ['anthropic', 'openai', 'openai-compatible', 'google', 'amazon-bedrock']) {
  test(`importNamespaces() leaves no other import of zod in the installed @ai-sdk/${name}`, async () => {
    const url = new URL(`../../node_modules/@ai-sdk/${name}/dist/index.js`, import.meta.url)
    const imports = importNamespaces(await readFile(url, 'utf8'))!.match(/^import .* from "zod.*$/gm)!
    assert.deepEqual(
      imports.filter((line) => !/^import \* as z\d* from "zod\/v4";$/.test(line)),
      [],
    )
  })
}

test('importNamespaces() refuses a module without such an import', () => {
  assert.equal(importNamespaces('import * as z from "zod/v4";\n'), undefined)
})
