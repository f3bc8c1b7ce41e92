import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Outside } from '../../../src/tui/outside/outside.ts'
import { detectTerminal } from '../../../src/tui/outside/terminal-kind.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import { ChatStore } from '../../../src/tui/state/store.ts'

test('the window title follows the directory', () => {
  const rules = { allow: [], ask: [], deny: [] }
  const store = new ChatStore(
    initialState({ agent: 'crab', sender: 'ann', fresh: false, rules, color: false, version: '1' }),
  )
  const titles: string[] = []
  let directory = '~/one'
  using _outside = new Outside({
    store,
    screen: { set: (name, bytes) => void (name === 'title' && titles.push(bytes)) },
    kind: detectTerminal({ TERM: 'xterm-256color' }),
    shownCwd: () => directory,
    color: false,
    now: () => 0,
    elapsed: () => 0,
  })
  directory = '~/two'
  store.act({ type: 'set', change: { branch: 'main' } })
  assert.deepEqual(
    titles.map((bytes) => /~\/\w+/.exec(bytes)?.[0]),
    ['~/one', '~/two'],
  )
})
