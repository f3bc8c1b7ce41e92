import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseOptions } from '../../../src/cli/parse.ts'
import { type AgentChanges, readAgentChanges } from '../../../src/commands/agent/changes.ts'
import { CRABTALK } from '../../../src/commands/table.ts'
import { makeTestHost, type TestHostOptions } from '../../support/test-host.ts'

const NEVER = new AbortController().signal

/** Arguments of `--set`, and the resulting patch. */
const ASSIGNMENTS: [string, object][] = [
  ['max_iterations=30', { max_iterations: 30 }],
  ['max_iterations = 30', { max_iterations: 30 }],
  ['thinking=true', { thinking: true }],
  ['tools=["read"]', { tools: ['read'] }],
  ['model="quoted"', { model: 'quoted' }],
  ['model=claude-x', { model: 'claude-x' }],
  ['description=a = b', { description: 'a = b' }],
  ['description="not closed', { description: '"not closed' }],
  ['model=', { model: null }],
  ['model=  ', { model: null }],
]

for (const [text, patch] of ASSIGNMENTS) {
  test(`readAgentChanges() converts --set ${text} to ${JSON.stringify(patch)}`, async () => {
    assert.deepEqual(await parseChanges(['--set', text]), { patch, prompt: undefined })
  })
}

for (const text of ['model', '=x', ' =x', '']) {
  test(`readAgentChanges() rejects --set ${JSON.stringify(text)}`, async () => {
    await assert.rejects(parseChanges([`--set=${text}`]), { kind: 'usage', hint: /--set max_iterations=30/ })
  })
}

test('readAgentChanges() returns nothing when no option requests a change', async () => {
  assert.equal(await parseChanges([]), undefined)
  assert.equal(await parseChanges(['--json']), undefined)
})

test('readAgentChanges() prefers a dedicated option to --set, and uses the last value of --set', async () => {
  const argv = ['--set', 'model=a', '--set', 'model=b', '--set', 'thinking=true']
  assert.deepEqual((await parseChanges(argv))?.patch, { model: 'b', thinking: true })
  assert.deepEqual((await parseChanges([...argv, '--model', 'c']))?.patch, { model: 'c', thinking: true })
})

test('readAgentChanges() resets the model when it is empty, and keeps an empty description', async () => {
  const changes = await parseChanges(['--model=', '--description='])
  assert.deepEqual(changes, { patch: { model: null, description: '' }, prompt: undefined })
})

test('readAgentChanges() reads a prompt unchanged, from a file or from standard input', async () => {
  const promptOf = async (prompt: string, options?: TestHostOptions) =>
    (await parseChanges(['--prompt', prompt], options))?.prompt
  assert.equal(await promptOf('Be brief.'), 'Be brief.')
  assert.equal(await promptOf(''), '')
  assert.equal(await promptOf('@prompt.md'), 'From a file\n')
  assert.equal(await promptOf('@-', { stdin: 'From a pipe\n' }), 'From a pipe\n')
  await assert.rejects(promptOf('@none.md'), {
    kind: 'no-input',
    message: 'Cannot read none.md for --prompt: it does not exist',
  })
  await assert.rejects(promptOf('@-', { stdin: Buffer.from([0xff]) }), { kind: 'invalid' })
})

async function parseChanges(
  argv: readonly string[],
  options: TestHostOptions = {},
): Promise<AgentChanges | undefined> {
  await using at = await makeTestHost(options)
  await writeFile(join(at.folder, 'prompt.md'), 'From a file\n')
  const command = CRABTALK.find(({ path }) => path.join(' ') === 'agent edit')!
  const parsed = parseOptions({ program: 'crabtalk', command }, ['crab', ...argv])
  return await readAgentChanges(parsed, at.host, NEVER)
}
