import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { agentWith, mcpNode, NEVER } from '../mcp-node.ts'

test('a server that exits with its secret in the message reveals none of it, even where the text is cut', async () => {
  await using node = await mcpNode()
  const secrets = ['sesame-open', 'abcdefghijkl', 'argument-1']
  const script = `const { WORD, OTHER } = process.env
process.stderr.write('error: ' + 'x'.repeat(247) + ' ' + process.argv.at(-1) + ' ' + WORD + ' ' + OTHER.repeat(3))
process.exitCode = 1`
  const agent = agentWith([
    {
      ...{ name: 'one', command: process.execPath, args: ['-e', script, '--', '--key', 'argument-1'] },
      env: { WORD: 'sesame-open', OTHER: 'abcdefghijkl' },
    },
  ])
  const failure: unknown = await node.servers.connect(agent, 'one', NEVER).catch((reason) => reason)
  const folder = join(node.folder, 'cache', 'mcp')
  const stored = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
  )
  const shownTexts = [
    inspect(failure),
    node.servers.logs(agent, 'one').join(),
    node.servers.peers()[0]!.error,
  ]
  assert.match(shownTexts[0]!, /exited with code 1: error: x+ \[secret\] \[secret\]/)
  for (const text of [...shownTexts, ...stored]) {
    for (const secret of secrets) assert.ok(!text.includes(secret.slice(0, 6)), text)
  }
})
