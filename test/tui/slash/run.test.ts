import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { SLASH_COMMANDS } from '../../../src/tui/slash/commands.ts'
import { FOREIGN_COMMANDS } from '../../../src/tui/slash/foreign-commands.ts'
import { COMMAND_GROUPS } from '../../../src/tui/slash/help.ts'
import { runSlash } from '../../../src/tui/slash/run.ts'
import type { Block } from '../../../src/tui/view/blocks.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('runSlash() answers an unknown command itself and suggests the nearest', async () => {
  const chat = createSlashChat(serveSkills())
  await runSlash('/modle gpt', chat.context, NEVER)
  await runSlash('/zzzzzzzzzz', chat.context, NEVER)
  await runSlash('/', chat.context, NEVER)
  assert.deepEqual(chat.blocks().map(sentence), [
    'Unknown command /modle (did you mean /model?)',
    'Unknown command /zzzzzzzzzz (/help lists all commands)',
    'Unknown command / (/help lists all commands)',
  ])
  assert.deepEqual(chat.done, [])
})

test('runSlash() names the command for a word of another program, or for what a command is about', async () => {
  const chat = createSlashChat(serveSkills('review'))
  for (const line of ['/logout', '/Stats', '/tokens']) await runSlash(line, chat.context, NEVER)
  assert.deepEqual(chat.blocks().map(sentence), [
    'Unknown command /logout (here it is /connect)',
    'Unknown command /Stats (here it is /usage)',
    'Unknown command /tokens (did you mean /cost?)',
  ])
  const names = SLASH_COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases])
  for (const [word, command] of FOREIGN_COMMANDS)
    assert.deepEqual([names.includes(word), names.includes(command)], [false, true], word)
})

test('runSlash() sends a skill by name to the agent; a command of the same name wins', async () => {
  const chat = createSlashChat(serveSkills('review', 'new', 'my skill'))
  for (const line of ['/review src/a.ts ', '/new', '/skill:new and', '/my skill x', '/reviewer', '/reviw'])
    await runSlash(line, chat.context, NEVER)
  assert.deepEqual(chat.done, ['say /review src/a.ts', 'anew', 'say /skill:new and', 'say /my skill x'])
  assert.deepEqual(chat.blocks().map(sentence), [
    'Unknown command /reviewer (did you mean /review?)',
    'Unknown command /reviw (did you mean /review?)',
  ])
})

test('/skills lists those of the agent with their descriptions, and what is wrong with others', async () => {
  const chat = createSlashChat(serveSkills('review'))
  await runSlash('/skills', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  assert.equal(overlay.title, 'Skills of crab')
  assert.match(overlay.text, /^ {2}\/review {2}about review$/m)
  assert.match(overlay.text, /^\/s\/bad\/SKILL\.md:3: it is bad$/m)
})

test('runSlash() finds a command by its other names, in upper and lower case', async () => {
  const chat = createSlashChat(route({}))
  for (const line of ['/new', '/clear', '/NEW', '/quit', '/exit ']) await runSlash(line, chat.context, NEVER)
  assert.deepEqual(chat.done, ['anew', 'anew', 'anew', 'leave', 'leave'])
})

test('runSlash() refuses commands that may not run during a turn, and says so', async () => {
  const chat = createSlashChat(serveSkills())
  chat.context.act({ type: 'message-sent', text: 'hi', files: [], now: 0 })
  for (const { name, whileBusy } of SLASH_COMMANDS.filter(({ whileBusy }) => !whileBusy)) {
    await runSlash(`/${name}`, chat.context, NEVER)
    assert.equal(whileBusy, false)
    assert.equal(sentence(chat.blocks().at(-1)), `/${name} cannot run during a turn (Esc interrupts it)`)
  }
  assert.deepEqual(chat.done, [])
  await runSlash('/quit', chat.context, NEVER)
  assert.deepEqual(chat.done, ['leave'])
})

test('no two commands share a name', () => {
  const names = SLASH_COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases])
  assert.deepEqual(names, [...new Set(names)])
})

test('/help lists every command and every key', async () => {
  const chat = createSlashChat(route({}))
  await runSlash('/help', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  for (const { name } of SLASH_COMMANDS) assert.match(overlay.text, new RegExp(`^ {2}/${name}\\b`, 'm'))
  assert.match(overlay.text, /Shift\+Tab {2}.*next approval mode/)
  assert.match(overlay.text, /\/new \/clear/)
  const grouped = COMMAND_GROUPS.flatMap(([, names]) => names)
  assert.deepEqual(grouped.toSorted(), SLASH_COMMANDS.map(({ name }) => name).toSorted())
  assert.match(overlay.text, /^Permissions\n {2}\/permissions \[CALL\]/m)
})

test('/details and /thinking toggle; /plain says how', async () => {
  const chat = createSlashChat(route({}))
  await runSlash('/details', chat.context, NEVER)
  await runSlash('/thinking', chat.context, NEVER)
  assert.deepEqual([chat.state().details, chat.state().thinking], [true, true])
  await runSlash('/details', chat.context, NEVER)
  assert.deepEqual([chat.state().details, chat.state().hint], [false, 'details off'])
  await runSlash('/plain', chat.context, NEVER)
  assert.match(sentence(chat.blocks()[0]), /crabtalk chat --plain/)
})

test('an error from the daemon is thrown to the caller of the command', async () => {
  const chat = createSlashChat(route({}))
  await assert.rejects(runSlash('/model', chat.context, NEVER), /Cannot serve list_models/)
})

function sentence(block: Block | undefined): string {
  return block?.kind === 'notice' ? `${block.text} (${block.hint})` : JSON.stringify(block)
}

/** Serves only the skills of crab. */
function serveSkills(...names: string[]) {
  return route({
    listSkills: async ({ agent }) => {
      assert.equal(agent, 'crab')
      const skills = names.map((name) => {
        return { name, description: `about ${name}`, source: `/s/${name}`, sourceKind: SourceKind.LOCAL }
      })
      return { skills, problems: [{ path: '/s/bad/SKILL.md', line: 3, message: 'it is bad' }] }
    },
  })
}
