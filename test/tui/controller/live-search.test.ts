import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { SessionHit } from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Handlers, route } from '../../../src/core/protocol/dispatch.ts'
import { LiveSearch } from '../../../src/tui/controller/live-search.ts'
import { pressSearch } from '../../../src/tui/overlays/search.ts'
import type { Search } from '../../../src/tui/overlays/types.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import { ChatStore } from '../../../src/tui/state/store.ts'
import { CHAT_OPTIONS } from '../../support/chat-state.ts'
import { openTestChat } from '../../support/open-chat.ts'
import { until } from '../../support/until.ts'
import { key } from '../cards/card-fixtures.ts'

test('Ctrl+R opens a search that gets all following keys, even those of the same input chunk', async () => {
  await using chat = await openTestChat([{ parts: ['Hi.'] }])
  chat.type('git log')
  chat.press('enter')
  await chat.idle()
  chat.type('draft')
  const press = { name: 'text', alt: false, shift: false } as const
  chat.controller.keys([
    { ...press, text: 'r', ctrl: true },
    { ...press, text: 'gi', ctrl: false },
    { ...press, text: 't', ctrl: false },
  ])
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'search')
  assert.deepEqual([overlay.query, overlay.results.items.map(({ value }) => value)], ['git', ['git log']])
  chat.press('enter')
  assert.equal(chat.state().overlay, undefined)
  assert.equal(chat.state().prompt.text, 'git log')
  chat.press('text', { text: '_', ctrl: true })
  assert.equal(chat.state().prompt.text, 'draft')
})

test('keys that arrive together are typed into an open search', async () => {
  await using chat = await openTestChat([])
  const press = { name: 'text', ctrl: false, alt: false, shift: false } as const
  chat.press('text', { text: 'r', ctrl: true })
  chat.controller.keys([...'kraken'].map((text) => ({ ...press, text })))
  const { overlay } = chat.state()
  assert.equal(overlay?.kind === 'search' && overlay.query, 'kraken')
})

test('LiveSearch runs one search for words that are typed quickly, and shows the results', async () => {
  const queries: string[] = []
  using chat = liveSearch({
    async searchSessions({ query }) {
      queries.push(query)
      return { hits: [], partial: false }
    },
  })
  chat.liveSearch.open('conversations', '')
  chat.type('kraken')
  await chat.until(({ results: found }) => found.query === 'kraken')
  assert.deepEqual(queries, ['kraken'])
})

test('LiveSearch searches again while older conversations are still being indexed, and keeps the selection', async () => {
  const hits = ['a', 'b', 'c'].map((id) => SessionHit.fromPartial({ session: { id } }))
  let queries = 0
  using chat = liveSearch({
    async searchSessions() {
      queries++
      return queries === 1 ? { hits: hits.slice(1), partial: true } : { hits, partial: false }
    },
  })
  chat.liveSearch.open('conversations', 'kraken')
  await chat.until(({ results: found }) => found.items.length === 2)
  assert.match(chat.shown().results.note, /still being read/)
  assert.equal(chat.shown().selected, 0)
  await chat.until(({ results: found }) => found.items.length === 3)
  assert.deepEqual([chat.shown().results.note, chat.shown().selected], ['', 1])
})

test('LiveSearch cancels the search for earlier words, and never shows its results', async () => {
  const gates = new Map<string, AbortSignal>()
  using chat = liveSearch({
    async searchSessions({ query }, signal) {
      gates.set(query, signal)
      if (query === 'a') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { hits: [], partial: false }
    },
  })
  chat.liveSearch.open('conversations', 'a')
  await until('a is asked for', () => gates.has('a'))
  chat.type('b')
  await chat.until(({ results: found }) => found.query === 'ab')
  assert.equal(gates.get('a')?.aborted, true)
})

test('LiveSearch cancels its search when the overlay is closed', async () => {
  const queries: AbortSignal[] = []
  using chat = liveSearch({
    async searchMemory(_, signal) {
      queries.push(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { hits: [] }
    },
  })
  chat.liveSearch.open('memory', 'db')
  await until('it is asked for', () => queries.length === 1)
  chat.store.act({ type: 'set', change: { overlay: undefined } })
  assert.equal(queries[0]?.aborted, true)
  assert.equal(chat.store.get().overlay, undefined)
})

test('LiveSearch shows in the overlay why it fails', async () => {
  using chat = liveSearch({
    async searchSessions() {
      throw new CrabError('unavailable', 'Cannot search: no index')
    },
  })
  chat.liveSearch.open('conversations', 'kraken')
  await chat.until(({ results: found }) => found.note === 'Cannot search: no index')
})

/** Opens a search over these handlers, without a screen. */
function liveSearch(handlers: Partial<Handlers>) {
  const store = new ChatStore(initialState(CHAT_OPTIONS))
  const over = new AbortController()
  const dispatch = route({
    listConversations: async () => ({ conversations: [], total: 0 }),
    ...handlers,
  })
  const ports = { dispatch, cwd: '/work', now: () => 0 }
  const liveSearch = new LiveSearch({ store, ports, signal: over.signal })
  const shown = () => store.get().overlay as Search
  return {
    store,
    liveSearch,
    shown,
    type(text: string) {
      for (const letter of text) {
        const { state, effects } = pressSearch(shown(), key(`type:${letter}`), { columns: 80, rows: 24 })
        store.act({ type: 'set', change: { overlay: state } })
        for (const effect of effects) if (effect.type === 'search') liveSearch.look(effect.isTyped)
      }
    },
    async until(isSo: (search: Search) => boolean) {
      await until('the search shows it', () => store.get().overlay !== undefined && isSo(shown()))
    },
    [Symbol.dispose]() {
      over.abort()
      store[Symbol.dispose]()
    },
  }
}
