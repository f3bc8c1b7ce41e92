import { CrabError } from '../../../src/core/base/errors.ts'
import type { Dispatch } from '../../../src/core/protocol/dispatch.ts'
import type { ChatPorts } from '../../../src/tui/ports.ts'
import type { SlashContext } from '../../../src/tui/slash/types.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import { ChatStore } from '../../../src/tui/state/store.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
import type { Block } from '../../../src/tui/view/blocks.ts'
import { NO_MEMORY, NO_SERVERS } from '../../support/chat-ports.ts'

/** A chat without a screen that records what slash commands print, open and request. */
export interface SlashChat {
  context: SlashContext
  state(): ChatState
  /** Sets the conversation of (crab, ann) that the chat is about. */
  openSession(session: string, title?: string): void
  /** Returns everything printed so far, oldest first. */
  blocks(): Block[]
  /** Records the other effects: `open ID`, `agent NAME`, `anew`, `send TEXT`, `leave`, `copy TEXT`. */
  done: string[]
  /** Contents by path. */
  files: Map<string, string>
}

export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

/** Returns the chat of (crab, ann) over that Dispatch. */
export function createSlashChat(dispatch: Dispatch): SlashChat {
  const rules = { allow: [], ask: [], deny: [] }
  const options = {
    agent: 'crab',
    sender: 'ann',
    fresh: false,
    mode: 'ask',
    rules,
    color: false,
    version: '1',
  } as const
  const store = new ChatStore(initialState(options))
  const done: string[] = []
  const files = new Map<string, string>()
  const ports = {
    cwd: '/work',
    shownCwd: '~/work',
    abbreviate: (path: string) => path,
    servers: NO_SERVERS,
    memory: NO_MEMORY,
    newSender: () => 'sh:copy',
    now: () => NOW,
    async copy(text: string) {
      done.push(`copy ${text}`)
      return 'copied'
    },
    async writeNewFile(path: string, text: string) {
      if (files.has(path)) throw new CrabError('conflict', `Cannot write ${path}: it exists`)
      files.set(path, text)
      return `/work/${path}`
    },
  } satisfies Partial<ChatPorts> as unknown as ChatPorts
  const context: SlashContext = {
    ports,
    dispatch,
    rules,
    state: store.get,
    act: store.act,
    subscribe: store.subscribe,
    openConversation: async (session) => void done.push(`open ${session}`),
    openAgent: async (agent) => void done.push(`agent ${agent}`),
    startNewConversation: async (agent) => void done.push(agent === undefined ? 'anew' : `anew ${agent}`),
    hold: (work) => work(),
    send: (line, { content }) => done.push(`send ${line}: ${content}`),
    say: (text) => done.push(`say ${text}`),
    addContext: (text) => done.push(`context ${text}`),
    putBack: (text, files) => [text, ...files.map(({ name }) => `[${name}]`)].join(' '),
    showBlocks: async (title) => void done.push(`show ${title}`),
    leave: () => done.push('leave'),
    lifetime: new AbortController().signal,
  }
  return {
    context,
    state: store.get,
    openSession: (session, title = '') =>
      store.act({ type: 'conversation', agent: 'crab', sender: 'ann', session, title }),
    blocks: () => store.get().finished.map(({ block }) => block),
    done,
    files,
  }
}
