import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownPaths } from '../../../src/core/hooks/protected-paths.ts'
import { javascriptEngine } from '../../../src/core/hooks/search/javascript.ts'
import { searchHook } from '../../../src/core/hooks/search/search-hook.ts'
import { toolDispatch, toolRequest } from '../../support/dispatches.ts'
import { fileTools } from '../../support/file-tools.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

/** The files of a home that hold keys or control the program. */
const CLOSED = [
  'config.toml',
  'service.env',
  'agents/crab.toml',
  'vault',
  'vault-keys/one.key',
  '.env',
  'run/clock.key',
  'config/crons.toml',
  'events/subscriptions.toml',
  'cache/undo/01J',
]

const NEVER = new AbortController().signal

test('ownPaths() protects the keys of a home from every file tool', async () => {
  await using home = await temporaryHome()
  for (const file of [...CLOSED, 'Crab.md']) await home.write(file, "KEY='one'\n")
  const closed = ownPaths(home.paths)
  const { say } = fileTools(home.paths.home, { closed })
  const engine = async () => javascriptEngine()
  const search = searchHook({ engine, closed, homeDir: '' })
  const cwd = home.paths.home
  assert.match(await say('read', { path: 'Crab.md' }), /KEY/)
  for (const path of CLOSED) {
    const edits = [{ old: 'one', new: 'two' }]
    for (const [name, args] of [
      ['read', { path }],
      ['edit', { path, edits }],
      ['write', { path, content: '' }],
    ] as const) {
      assert.match(await say(name, args), /^!Cannot .* it is one of crabtalk's own files$/, `${name} ${path}`)
    }
    const args = { pattern: 'one', path }
    const action = await search.describe!('grep', toolRequest({ args, cwd }))!
    const searching = search.dispatch!('grep', toolDispatch({ args, cwd, action }), NEVER)!
    await assert.rejects(searching, /: crabtalk keeps its own files there/, path)
    assert.equal(await home.read(path), "KEY='one'\n")
  }
})
