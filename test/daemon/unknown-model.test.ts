import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { nodeOptions } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const CONFIG = '[[providers]]\nname = "one"\nkind = "anthropic"\nmodels = ["a"]\napi_key = "k"\n'

test('a turn that names an unknown model leaves no conversation behind', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', CONFIG)
  await using services = compose(nodeOptions(home))
  const dispatch = route(handlers(services, 'process'))
  const turn = streamTurn(dispatch, { sender: 'ann', content: 'hi', options: { model: 'b' } }, NEVER)
  await assert.rejects(Array.fromAsync(turn), { kind: 'config', message: /Cannot find model "b"/ })
  assert.deepEqual(await request(dispatch, 'listConversations', {}, NEVER), { conversations: [], total: 0 })
})

test('a model whose key only services have is reported as missing its key, with where the key is', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', 'model = "claude-sonnet-5-5"\n')
  await home.write('service.env', "ANTHROPIC_API_KEY='sk-kept'\n")
  const message = 'Cannot use the model "claude-sonnet-5-5" (config.toml:1): no connected provider has it'
  const found = { kind: 'config', message }
  for (const [env, hint] of [
    [
      {},
      /^ANTHROPIC_API_KEY is set in service.env, which only services read: start the daemon with crabup daemon start, or set the variable in this shell$/,
    ],
    [{ ANTHROPIC_API_KEY: 'sk-own' }, undefined],
  ] as const) {
    await using services = compose({ ...nodeOptions(home), env })
    const models = await services.models(NEVER)
    if (hint) assert.throws(() => models.defaultModel(), { ...found, hint })
    else assert.equal(models.defaultModel(), 'claude-sonnet-5-5')
  }
})

test('a default model that no provider has leaves other models usable, and can be replaced', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', 'model = "gpt-5"\n')
  await using services = compose(nodeOptions(home))
  const dispatch = route(handlers(services, 'process'))
  const ask = (model?: string) =>
    Array.fromAsync(
      streamTurn(dispatch, { sender: 'ann', content: 'hi', options: model ? { model } : {} }, NEVER),
    )
  const missing = {
    kind: 'config',
    message: 'Cannot use the model "gpt-5" (config.toml:1): no connected provider has it',
    hint: 'connect it with crabtalk connect openai, or use --model demo',
  }
  await assert.rejects(ask(), missing)
  assert.ok((await ask('demo')).length > 0)
  await assert.rejects(ask(), missing)
  await request(dispatch, 'setActiveModel', { model: 'demo' }, NEVER)
  assert.ok((await ask()).length > 0)
})
