import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialState } from '../../../src/tui/state/initial.ts'
import { toWelcome } from '../../../src/tui/state/welcome.ts'
import { CHAT_OPTIONS } from '../../support/chat-state.ts'

test('toWelcome() names the server of a model that was found on this machine', () => {
  const state = initialState({ ...CHAT_OPTIONS, model: 'llama3.2' })
  const found = {
    name: 'llama3.2',
    active: true,
    providerName: 'ollama',
    efforts: [],
    foundProgram: 'Ollama',
  }
  const shown = (models: (typeof state)['models']) => {
    const block = toWelcome({ ...state, models, welcome: { cwd: '~', version: '1' } })
    return block?.kind === 'welcome' ? block.model : undefined
  }
  assert.equal(shown([found]), 'llama3.2 on Ollama (found on this machine)')
  assert.equal(shown([{ ...found, foundProgram: undefined }]), 'llama3.2')
  assert.equal(shown([]), 'llama3.2')
})
