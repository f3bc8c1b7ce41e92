import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions } from '../../src/cli/parse.ts'
import { licensesCommand } from '../../src/commands/licenses/licenses.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { makeTestHost } from '../support/test-host.ts'

test('licenses from source, without a list from a build, says what to do', async () => {
  await using one = await makeTestHost()
  const command = CRABTALK.find(({ path }) => path[0] === 'licenses')!
  const options = parseOptions({ program: 'crabtalk', command }, [])
  const call = { program: 'crabtalk', commands: CRABTALK, path: ['licenses'], options, host: one.host }
  await assert.rejects(licensesCommand({ ...call, signal: AbortSignal.timeout(60_000) }), {
    kind: 'missing',
    hint: /npm run build/,
  })
})
