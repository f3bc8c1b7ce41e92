import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from '../../support/imports.ts'

test('only `mcp serve` loads the serving modules, and only when it runs', () => {
  const product = readSources('bin', 'src').filter(({ path }) => !path.startsWith('src/mcp/serve/'))
  const uses = product.flatMap(({ path, code }) =>
    code.filter((line) => /mcp\/serve\//.test(line)).map((line) => `${path}: ${line.trim()}`),
  )
  assert.deepEqual(uses, [
    "src/commands/mcp/serve.ts: const { serveAgents } = await import('../../mcp/serve/serve-agents.ts')",
  ])
})
