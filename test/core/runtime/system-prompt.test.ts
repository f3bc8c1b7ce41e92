import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import { type SystemPromptContext, systemPrompt } from '../../../src/core/runtime/system-prompt.ts'
import { AGENT } from '../../support/agents.ts'
import { CONTEXT_TURN } from '../../support/context-turn.ts'

const HOOK: Hook = {
  systemPrompt: () => 'Use memory.\n',
  scope: () => 'tools: read',
  context: async (cwd) => `<environment>\ncwd: ${cwd}\n</environment>`,
}

test('systemPrompt() begins with the prompt and ends with the environment', async () => {
  const expected = [
    'You are crab.',
    'Use memory.',
    '<scope>\ntools: read\n</scope>',
    '<environment>\ncwd: /work\n</environment>',
  ]
  assert.equal(await systemPrompt(AGENT, setting({})), expected.join('\n\n'))
})

test('systemPrompt() replaces only the prompt', async () => {
  const prompt = await systemPrompt(AGENT, setting({ override: 'Be terse.' }))
  assert.match(prompt, /^Be terse\.\n\nUse memory\.\n\n<scope>/)
  assert.doesNotMatch(prompt, /crab/)
})

test('systemPrompt() omits missing parts', async () => {
  assert.equal(await systemPrompt({ ...AGENT, prompt: '  ' }, setting({ hook: {} })), '')
  assert.equal(await systemPrompt(AGENT, setting({ hook: {} })), 'You are crab.')
  assert.equal(await systemPrompt(AGENT, setting({ hook: {}, override: '' })), '')
})

test('systemPrompt() frames a guest, who has no tools and so no scope', async () => {
  const prompt = await systemPrompt(AGENT, setting({ guest: true, hasGuests: true }))
  assert.match(prompt, /You are a guest/)
  assert.doesNotMatch(prompt, /<scope>|guest agents/)
})

test('systemPrompt() tells the agent about guests only if there were some', async () => {
  assert.doesNotMatch(await systemPrompt(AGENT, setting({})), /guest/)
  assert.match(await systemPrompt(AGENT, setting({ hasGuests: true })), /said by guest agents, not by you/)
})

function setting(more: Partial<SystemPromptContext>): SystemPromptContext {
  const usual = { override: undefined, hook: HOOK, cwd: '/work', turn: CONTEXT_TURN, keeps: () => true }
  return { ...usual, guest: false, side: false, hasGuests: false, ...more }
}
