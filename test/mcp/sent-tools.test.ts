import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { filesystemEntry, type StdioEntry } from '../support/mcp/mcp-servers.ts'
import { listRawTools, listSentTools } from '../support/mcp/sent-tools.ts'

/** Its description has 2,781 characters. `npm run descriptions` compares popular servers of the registry. */
const THINKING: StdioEntry = {
  name: 'thinking',
  command: process.execPath,
  args: [
    fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-sequential-thinking/dist/index.js')),
  ],
}

for (const entry of [THINKING, filesystemEntry([tmpdir()])]) {
  test(`the model is sent the tools of ${entry.name} byte for byte as the server lists them`, async () => {
    const raw = await listRawTools(entry)
    const sent = await listSentTools(entry, [...raw.keys()])
    assert.ok(raw.size > 0)
    assert.deepEqual(Object.fromEntries(sent), Object.fromEntries(raw))
  })
}
