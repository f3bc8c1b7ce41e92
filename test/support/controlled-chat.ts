import type { ServerMessage } from '../../src/core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../../src/core/protocol/dispatch.ts'
import { Controller } from '../../src/tui/controller/controller.ts'
import { Feed } from '../../src/tui/controller/feed.ts'
import { initialState } from '../../src/tui/state/initial.ts'
import { ChatStore } from '../../src/tui/state/store.ts'
import { chatPorts } from './chat-ports.ts'
import { CHAT_OPTIONS } from './chat-state.ts'
import { ManualClock } from './manual-clock.ts'

/** A chat without a screen: its state, the keys that change it, and the clock that decides when keys count on cards. */
export interface ControlledChat extends Disposable {
  store: ChatStore
  clock: ManualClock
  controller: Controller
  /** The messages sent so far. */
  sent: readonly string[]
}

/** Opens a chat of 80 columns and 24 rows whose daemon answers nothing. */
export function openControlled(): ControlledChat {
  const over = new AbortController()
  const store = new ChatStore(initialState(CHAT_OPTIONS))
  const clock = new ManualClock()
  const dispatch: Dispatch = async function* refused(): AsyncGenerator<ServerMessage> {
    yield* []
  }
  const ports = chatPorts(dispatch, { cwd: '/' })
  const sent: string[] = []
  const controller = new Controller({
    store,
    ports: { ...ports, rememberSent: async (text) => void sent.push(text) },
    rules: CHAT_OPTIONS.rules,
    terminal: { lend: async () => {}, suspend: async () => {} },
    size: () => ({ columns: 80, rows: 24 }),
    commands: {
      list: [],
      run: async () => {},
      isForAgent: async () => false,
      chosen: async () => {},
      offerConnect: async () => {},
    },
    feed: new Feed({ store, ports, signal: over.signal }),
    showTranscript: async () => {},
    leave() {},
    timer: clock.timer,
    signal: over.signal,
  })
  return {
    store,
    clock,
    controller,
    sent,
    [Symbol.dispose]() {
      over.abort()
      store[Symbol.dispose]()
    },
  }
}
