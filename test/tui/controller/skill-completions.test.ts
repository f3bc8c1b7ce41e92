import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SkillCompletions } from '../../../src/tui/controller/completer.ts'
import { SLASH_COMMANDS } from '../../../src/tui/slash/commands.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('SkillCompletions offers the skills of the agent, next to commands of the same name', async () => {
  await using node = await startTestDispatch([])
  const write = (name: string) => {
    return node.home.write(`skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}\n---\n`)
  }
  let agent = 'crab'
  const commands = () => SLASH_COMMANDS
  const offers = new SkillCompletions({ dispatch: node.dispatch, agent: () => agent, commands })
  assert.deepEqual([await offers.find(NEVER), offers.entries], [false, []])
  await write('review')
  await write('clear')
  assert.deepEqual([await offers.find(NEVER), await offers.find(NEVER)], [true, false])
  assert.deepEqual(offers.entries, [
    { name: 'skill:clear', args: '[…]', summary: 'Does clear' },
    { name: 'review', args: '[…]', summary: 'Does review' },
  ])
  agent = 'nobody'
  assert.deepEqual(offers.entries, [])
  assert.equal(await offers.find(NEVER), false)
})
