import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { fullPromptText } from '../../../src/tui/text/prompt-state.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const CALLS = ['npm test', 'npm run build', 'git status'].map((command, at) => ({
  call: `c${at}`,
  name: 'bash',
  args: JSON.stringify({ command }),
}))

test('/permissions shows the rules of the chat, the agent and config.toml, and what is built in', async () => {
  await using node = await startTestDispatch([], { config: '\n[permissions]\nask = ["bash(git push *)"]\n' })
  await node.home.write(
    'agents/crab.toml',
    'permissions = { allow = ["bash(git *)"], deny = ["read(/etc/**)"] }\n',
  )
  const chat = createSlashChat(node.dispatch)
  await runSlash('/permissions', { ...chat.context, rules: { allow: ['edit'], ask: [], deny: [] } }, NEVER)
  assert.deepEqual(
    rows(chat).map((row) => row.replace(/\.toml:\d+/, '.toml')),
    [
      'allow edit given to this chat',
      'deny read(/etc/**) agents/crab.toml',
      'allow bash(git *) agents/crab.toml',
      'ask bash(git push *) config.toml',
      'allow read-only commands (61) built in',
      'ask protected paths (61) built in',
    ].map((row) => row.replace(/\(61\)/, count(chat, row))),
  )
})

test('d deletes the rule of a row, and switches the read-only commands off and on', async () => {
  await using node = await startTestDispatch([])
  await node.home.write('agents/crab.toml', 'permissions = { allow = ["bash(git *)"] }\n')
  const chat = createSlashChat(node.dispatch)
  await runSlash('/permissions', chat.context, NEVER)
  await press(chat, 'd', 'bash(git *)')
  assert.ok(!rows(chat).some((row) => row.includes('git')))
  await press(chat, 'd', 'read-only')
  assert.match(rows(chat)[0]!, /^ask read-only commands config\.toml:\d+$/)
  await press(chat, 'd', 'read-only')
  assert.match(rows(chat)[0]!, /^allow read-only commands \(\d+\) built in$/)
  assert.doesNotMatch(await readFile(node.home.paths.config, 'utf8'), /permissions/)
})

test('m shows the calls of this conversation that a rule matches', async () => {
  await using node = await startTestDispatch([{ parts: CALLS }, { parts: ['ok'] }])
  await node.home.write('agents/crab.toml', 'permissions = { allow = ["bash(npm *)"] }\n')
  await node.ask('go', { options: { deny: ['bash'] } })
  const chat = await openChat(node)
  await runSlash('/permissions', chat.context, NEVER)
  await press(chat, 'm', 'bash(npm *)')
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  assert.match(overlay.text, /^2 of the last 3 calls of this conversation: npm run build, npm test/)
  await runSlash('/permissions', chat.context, NEVER)
  await press(chat, 'm', 'protected')
  assert.match(JSON.stringify(chat.state().overlay), /~\/Library\/LaunchAgents/)
})

test('a begins the command that adds a rule, which says what it matches', async () => {
  await using node = await startTestDispatch([{ parts: CALLS }, { parts: ['ok'] }])
  await node.ask('go', { options: { deny: ['bash'] } })
  const chat = await openChat(node)
  await runSlash('/permissions', chat.context, NEVER)
  await press(chat, 'a', 'protected')
  assert.equal(fullPromptText(chat.state().prompt), '/permissions add allow ')
  await runSlash('/permissions add allow bash(npm test *)', chat.context, NEVER)
  await runSlash('/permissions add deny read(.env) in config', chat.context, NEVER)
  await runSlash('/permissions add allow bash(make) in conversation', chat.context, NEVER)
  await runSlash('/permissions remove allow bash(make) in conversation', chat.context, NEVER)
  const printed = JSON.stringify(chat.blocks())
  assert.match(printed, /allow bash\(npm test \*\) \(agents\/crab\.toml:\d+\)/)
  assert.match(printed, /1 of the last 3 calls of this conversation: npm test/)
  assert.match(printed, /deny read\(\.env\) \(config\.toml:\d+\)/)
  assert.match(printed, /Removed: allow bash\(make\)/)
  assert.match(
    await readFile(join(node.home.paths.agents, 'crab.toml'), 'utf8'),
    /allow = \["bash\(npm test \*\)"\]/,
  )
  await runSlash('/permissions add maybe x', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks().at(-1)), /Cannot read the rule/)
  await assert.rejects(async () => runSlash('/permissions add allow bash(', chat.context, NEVER), {
    kind: 'invalid',
  })
})

test('/permissions CALL shows what the rules decide about it, and what it matches as a rule', async () => {
  await using node = await startTestDispatch([{ parts: CALLS }, { parts: ['ok'] }])
  await node.ask('go', { options: { deny: ['bash'] } })
  const chat = await openChat(node)
  await runSlash('/permissions bash(git push)', chat.context, NEVER)
  const context = { ...chat.context, rules: { allow: ['bash(git *)'], ask: [], deny: [] } }
  await runSlash('/permissions bash(git push)', context, NEVER)
  await runSlash('/permissions bash(npm *)', chat.context, NEVER)
  const titles = chat.blocks().flatMap((block) => (block.kind === 'output' ? [block.title] : []))
  assert.deepEqual(titles, ['ask: bash(git push)', 'allow: bash(git push)', 'ask: bash(npm *)'])
  assert.match(JSON.stringify(chat.blocks()[0]), /"to allow","bash\(git push\)"/)
  assert.match(JSON.stringify(chat.blocks()[2]), /"as a rule","matches 2 of the last 3 calls/)
  await runSlash('/permissions bash', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks().at(-1)), /Cannot read the call bash/)
})

type Node = Awaited<ReturnType<typeof startTestDispatch>>

/** Returns a chat whose conversation is the one that (crab, ann) has. */
async function openChat(node: Node): Promise<SlashChat> {
  const chat = createSlashChat(node.dispatch)
  const { id } = await node.services.agents.get('crab')
  chat.openSession((await node.services.stores.storage.activeSession({ agentId: id, sender: 'ann' }))!)
  return chat
}

function rows(chat: SlashChat): string[] {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'panel')
  return overlay.rows.map(({ cells }) => cells.join(' '))
}

/** Presses a key of the panel on the first row that contains this text. */
async function press(chat: SlashChat, key: string, text: string): Promise<void> {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'panel')
  const row = overlay.rows.find(({ value, cells }) => value.includes(text) || cells.join(' ').includes(text))
  await onChosen({ type: 'chosen', picker: 'permissions', value: row!.value, key }, chat.context, NEVER)
}

/** Returns the number in the row that begins like this one. */
function count(chat: SlashChat, start: string): string {
  const row = rows(chat).find((one) => one.startsWith(start.replace(/ \(61\).*/, '')))
  return /\(\d+\)/.exec(row ?? '')?.[0] ?? ''
}
