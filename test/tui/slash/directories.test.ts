import assert from 'node:assert/strict'
import { test } from 'node:test'
import { route } from '../../../src/core/protocol/dispatch.ts'
import type { ChatPorts } from '../../../src/tui/ports.ts'
import { runSlash } from '../../../src/tui/slash/run.ts'
import { chooseMode } from '../../../src/tui/state/modes.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('/cd ends "edits allowed", which was allowed for the directory before; other modes stay', async () => {
  for (const [mode, after] of [
    ['edits', 'ask'],
    ['plan', 'plan'],
    ['all', 'all'],
  ] as const) {
    const chat = createSlashChat(route({}))
    let cwd = '/work'
    const ports: ChatPorts = {
      ...chat.context.ports,
      get cwd() {
        return cwd
      },
      runShell: async () => ({ output: '/other\n', exitCode: 0 }),
      branch: async () => undefined,
      async enter(path) {
        cwd = path
        return true
      },
    }
    const context = { ...chat.context, ports }
    context.act({ type: 'set', change: chooseMode(mode) })
    await runSlash('/cd /other', context, NEVER)
    assert.deepEqual([cwd, chat.state().mode], ['/other', after])
    const block = chat.blocks().at(-1)
    assert.equal(block?.kind === 'notice' && block.hint !== undefined, mode === 'edits')
    context.act({ type: 'set', change: chooseMode(mode) })
    await runSlash('/cd /other', context, NEVER)
    assert.equal(chat.state().mode, mode)
  }
})
