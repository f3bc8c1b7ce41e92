import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { ChatPorts, ProviderOption } from '../../../src/tui/ports.ts'
import { onConnect, slashConnect } from '../../../src/tui/slash/connect.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const ANTHROPIC: ProviderOption = {
  id: 'anthropic',
  title: 'Anthropic',
  key: 'required',
  asksAddress: false,
  models: [],
}

test('a provider that is not offered any more opens no dialog of another one', async () => {
  await using node = await startTestDispatch([])
  const { chat, context } = openConnect(node, { list: async () => [ANTHROPIC] })
  await slashConnect('', context, NEVER)
  for (const picker of ['connect', 'connect-key']) {
    await onConnect({ picker, value: 'ollama', key: 'ollama\n' }, context, NEVER)
    assert.equal(chat.state().overlay, undefined)
  }
  assert.ok(chat.blocks().every((block) => block.kind === 'notice' && /not available/.test(block.text)))
  assert.equal(chat.blocks().length, 2)
})

test('after Esc a provider that was saved all the same is not reported as connected', async () => {
  await using node = await startTestDispatch([])
  const saving = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const save = async () => {
    begun.resolve()
    return { model: await saving.promise, place: 'saved in config.toml' }
  }
  const { chat, context } = openConnect(node, { list: async () => [ANTHROPIC], save })
  const chosen = onConnect({ picker: 'connect-model', value: 'm', key: 'anthropic\n' }, context, NEVER)
  await begun.promise
  context.act({ type: 'set', change: { overlay: undefined } })
  saving.resolve('m')
  await chosen
  assert.deepEqual([chat.blocks(), chat.state().overlay], [[], undefined])
})

test('a key whose check fails for the network can be tried again without typing it', async () => {
  await using node = await startTestDispatch([])
  const inputs: unknown[] = []
  const tryProvider: ChatPorts['providers']['tryProvider'] = async (input) => {
    inputs.push(input?.apiKey)
    throw new CrabError('unavailable', 'Cannot reach Anthropic: connection refused')
  }
  const { chat, context } = openConnect(node, { list: async () => [ANTHROPIC], tryProvider })
  await onConnect({ picker: 'connect-key', value: 'sk-1', key: 'anthropic\n' }, context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'menu')
  const { label, value } = overlay.items[overlay.selected]!
  assert.equal(label, 'Try again with the same key')
  await onConnect({ picker: 'connect-failed', value, key: overlay.subject }, context, NEVER)
  assert.deepEqual(inputs, ['sk-1', undefined])
})

/** Opens a chat whose machine offers these providers. */
function openConnect({ dispatch }: TestDispatch, providers: Partial<ChatPorts['providers']>) {
  const chat = createSlashChat(dispatch)
  const ports = { ...chat.context.ports, providers } as ChatPorts
  return { chat, context: { ...chat.context, ports } }
}
