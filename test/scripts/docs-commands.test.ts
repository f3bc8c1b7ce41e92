import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsSection } from '../../scripts/docs/commands.ts'

test('commandsSection() names the commands of a group, not the group itself', () => {
  assert.match(commandsSection(), /`unsubscribe`, `trace`\.\n/)
  assert.doesNotMatch(commandsSection(), /[ ,]``[,.]/)
})
