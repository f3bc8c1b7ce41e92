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
