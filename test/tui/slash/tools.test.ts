import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { runSlash } from '../../../src/tui/slash/run.ts'
import { startMcpNode } from '../../support/mcp/mcp-node.ts'
import { entriesToml, watchedServer } from '../../support/mcp/mcp-servers.ts'
import { recordFolder } from '../../support/mcp/record-folder.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'

test('/tools lists built-in and MCP tools, with what the rules decide', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  const rules = 'permissions = { deny = ["add"] }\n'
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n${entriesToml(server.entry)}${rules}`)
  const chat = createSlashChat(node.dispatch)
  await runSlash('/tools', chat.context, NEVER)
  assert.match(page(chat), /MCP server one: its tools are not known before it has run/)
  await request(node.dispatch, 'mcpAction', { agent: 'crab', name: 'one', action: 7 }, NEVER)
  await runSlash('/tools', chat.context, NEVER)
  const text = page(chat)
  assert.match(text, /^ {2}read {2,}allow · /m)
  assert.match(text, /^ {2}bash {2,}ask · no rule allows the command$/m)
  for (const name of ['remember', 'forget', 'recall', 'search_sessions']) {
    assert.match(text, new RegExp(`^ {2}${name} {2,}allow · `, 'm'))
  }
  assert.doesNotMatch(text, /^ {2}skill /m)
  assert.match(text, /^MCP server one\n {2}mcp__one__echo {2,}ask · no rule/m)
  assert.match(text, /^ {2}mcp__one__add {2,}deny · mcp__one__add \(agents\/crab\.toml:\d+\)/m)
})

test('/tools lists the skill tool if there are skills', async () => {
  await using node = await startTestDispatch([])
  await node.home.write('skills/a/SKILL.md', '---\nname: a\ndescription: Does a\n---\nDo it.\n')
  const chat = createSlashChat(node.dispatch)
  await runSlash('/tools', chat.context, NEVER)
  assert.match(page(chat), /^ {2}skill {2,}allow · /m)
})

test('/tools omits tools that the agent does not have', async () => {
  await using node = await startTestDispatch([])
  await node.home.write('agents/crab.toml', `id = "${ID}"\ntools = ["read"]\n`)
  const chat = createSlashChat(node.dispatch)
  await runSlash('/tools', chat.context, NEVER)
  assert.match(page(chat), /^ {2}bash .*the agent's file does not list it under tools/m)
  assert.match(page(chat), /crab has no MCP servers/)
})

test('/status shows the agent, conversation and model of the chat', async () => {
  await using node = await startTestDispatch([])
  const chat = createSlashChat(node.dispatch)
  await runSlash('/status', chat.context, NEVER)
  const block = chat.blocks()[0]
  assert.ok(block?.kind === 'output')
  assert.deepEqual(Object.fromEntries(block.rows!.map(([name, value]) => [name, value])), {
    agent: 'crab',
    sender: 'ann',
    conversation: 'none yet',
    model: 'not known before the first answer',
    mode: 'ask',
    directory: '~/work',
    'runs in': 'this process',
    instructions: 'not known before the first message',
    MCP: 'no servers',
  })
})

function page(chat: SlashChat): string {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  return overlay.text
}
