import { DEFAULT_CHAT_SETTINGS } from '../../src/core/base/chat-settings.ts'
import { newUlid } from '../../src/core/base/ids.ts'
import type { Dispatch } from '../../src/core/protocol/dispatch.ts'
import type {
  CatalogPort,
  ChatPorts,
  ProviderSetup,
  SchedulesPort,
  SessionServersPort,
  WindowMemory,
} from '../../src/tui/ports.ts'

/**
 * Ports of a chat that talks to those agents and does not touch this machine; `more` replaces the ports under
 * test.
 */
export function chatPorts(dispatch: Dispatch, more: Partial<ChatPorts> & { cwd: string }): ChatPorts {
  return {
    dispatch,
    connect: async () => ({ place: 'process', instance: 'process', notes: [] }),
    providers: NO_PROVIDERS,
    shownCwd: '~/work',
    abbreviate: (path) => path,
    enter: async () => true,
    newSender: () => `sh:${newUlid()}`,
    memory: NO_MEMORY,
    garbageCollector: async () => ({ collectAll() {}, collectYoung() {} }),
    env: {},
    settings: {
      read: async () => ({ settings: DEFAULT_CHAT_SETTINGS, problems: [] }),
      write: async () => {},
      watch: () => ({ [Symbol.dispose]() {} }),
    },
    schedules: NO_SCHEDULES,
    servers: NO_SERVERS,
    catalog: NO_CATALOG,
    checkSetup: async () => [],
    now: () => 0,
    elapsed: () => performance.now(),
    branch: async () => undefined,
    readHistory: async () => [],
    rememberSent: async () => {},
    findFiles: async () => [],
    hasFile: async () => false,
    expand: async (content) => ({ content, attachments: [], problems: [] }),
    editText: async () => undefined,
    copy: async () => 'copied',
    paste: async () => undefined,
    writeNewFile: async (path) => path,
    runShell: async () => ({ output: '', exitCode: 0 }),
    readGit: async () => ({ kind: 'none' }),
    ...more,
  }
}

/** The setup of a machine that never offers to connect a model. */
const NO_PROVIDERS: ProviderSetup = {
  list: async () => [],
  tryProvider: async () => ({ names: [], usual: undefined }),
  save: async () => ({ model: undefined, place: 'saved in config.toml' }),
  claimFirstOffer: async () => false,
}

/** A home without schedules. */
const NO_SCHEDULES: SchedulesPort = {
  list: async () => ({ entries: [], notes: [] }),
  run: async () => ({ answer: '', session: '' }),
  remove: async () => {},
}

/** A directory without files of MCP servers. */
export const NO_SERVERS: SessionServersPort = {
  find: async () => ({ options: {}, notes: [], unanswered: undefined }),
  answer: async () => {},
  list: async () => [],
  logIn: async ({ name }) => `Logged in to ${name}`,
  view: async () => ({ title: '', sections: [] }),
}

/** A catalog without servers. */
const NO_CATALOG: CatalogPort = {
  list: async () => [],
  plan: async () => ({ target: '', isReady: true }),
  install: async () => ({ text: '', steps: [] }),
}

/** Remembers nothing. */
export const NO_MEMORY: WindowMemory = {
  saveDraft: async () => {},
  readDrafts: async () => [],
  removeDraft: async () => {},
  markLookedAt: async () => {},
  readLookedAt: async () => new Map(),
}
