import { setImmediate } from 'node:timers/promises'
import type { ArmingTimer } from '../../src/tui/controller/arming.ts'
import { Controller } from '../../src/tui/controller/controller.ts'
import { Feed } from '../../src/tui/controller/feed.ts'
import { loadCommands, slashContext } from '../../src/tui/controller/slash.ts'
import type { ChatOptions, ChatPorts } from '../../src/tui/ports.ts'
import { initialState } from '../../src/tui/state/initial.ts'
import { ChatStore } from '../../src/tui/state/store.ts'
import type { ChatState } from '../../src/tui/state/types.ts'
import type { KeyPress } from '../../src/tui/text/key.ts'
import type { Block } from '../../src/tui/view/blocks.ts'
import { chatPorts } from './chat-ports.ts'
import { CHAT_OPTIONS } from './chat-state.ts'
import type { Script } from './model-server.ts'
import { startTestDispatch, type TestDispatch } from './test-dispatch.ts'

/** A chat without a screen: real agents, a scripted model, keys in, state out. */
export interface OpenChat extends AsyncDisposable {
  node: TestDispatch
  controller: Controller
  /** Follows the conversation of the options, like a chat that starts. */
  follow(): Promise<void>
  state(): ChatState
  /** Changes settings of the chat. */
  configure(change: Partial<ChatState['settings']>): void
  /** All printed blocks. */
  blocks(): Block[]
  /** The blocks with text, as `kind: text`. */
  words(): string[]
  /** Types a text, key by key. */
  type(text: string): void
  press(name: KeyPress['name'], more?: Partial<KeyPress>): void
  until(isSo: (state: ChatState) => boolean): Promise<void>
  /** Waits until no turn is running or queued. */
  idle(): Promise<void>
}

interface OpenOptions {
  options?: Partial<ChatOptions>
  ports?: Partial<ChatPorts>
  /** The timer of cards; by default that of this process. */
  timer?: ArmingTimer
  /** Whether the menu of the prompt has the commands of the chat, once they are loaded. */
  hasCommands?: boolean
}

export async function openTestChat(
  script: Script,
  { options = {}, ports = {}, timer, hasCommands = false }: OpenOptions = {},
): Promise<OpenChat> {
  const node = await startTestDispatch(script)
  const settings = { ...CHAT_OPTIONS, ...options }
  const store = new ChatStore(initialState(settings))
  const over = new AbortController()
  const used = chatPorts(node.dispatch, { cwd: node.home.paths.home, ...ports })
  const feed = new Feed({ store, ports: used, signal: over.signal })
  const commands = loadCommands(
    slashContext(
      {
        ...{ store, ports: used, rules: settings.rules, feed, options: settings, leave() {} },
        leaveTurn: (stop) => controller.turns.leave(stop),
        send: (line, message) => controller.turns.queuePrepared(line, message),
        say: (text) => controller.turns.say(text),
        addContext: (text) => controller.turns.addContext(text),
        putBack: (text, files) => controller.pasted.putBack(text, files),
        showBlocks: async (_, blocks) => {
          for (const block of blocks) store.act({ type: 'print', block })
        },
      },
      over.signal,
    ),
  )
  if (hasCommands) commands.load()
  const controller: Controller = new Controller({
    store,
    ports: used,
    rules: settings.rules,
    terminal: { lend: async (use) => use(), suspend: async () => {} },
    size: () => ({ columns: 80, rows: 24 }),
    commands,
    feed,
    showTranscript: async () => {},
    leave: () => store.act({ type: 'set', change: { isLeaving: true } }),
    ...(timer && { timer }),
    signal: over.signal,
  })
  const press: OpenChat['press'] = (name, more = {}) =>
    controller.keys([{ name, text: '', ctrl: false, alt: false, shift: false, ...more }])
  const until: OpenChat['until'] = async (isSo) => {
    const gate = Promise.withResolvers<void>()
    const look = () => isSo(store.get()) && gate.resolve()
    const stop = store.subscribe(look)
    look()
    await gate.promise
    stop()
  }
  const blocks = () => store.get().finished.map(({ block }) => block)
  return {
    node,
    controller,
    follow: () => feed.follow(settings, { as: 'first' }, over.signal),
    press,
    until,
    blocks,
    state: store.get,
    configure(change) {
      store.act({ type: 'set', change: { settings: { ...store.get().settings, ...change } } })
    },
    type(text) {
      for (const char of text) press('text', { text: char })
    },
    async idle() {
      do {
        await until(isIdle)
        await setImmediate() // a steer that came too late is queued a moment after it is gone
      } while (!isIdle(store.get()))
    },
    words: () =>
      blocks().flatMap((block) => ('text' in block ? [`${block.kind}: ${block.text?.trim()}`] : [])),
    async [Symbol.asyncDispose]() {
      await controller.end()
      over.abort()
      store[Symbol.dispose]()
      await node[Symbol.asyncDispose]()
    },
  }
}

function isIdle({ turn, queue, steers }: ChatState): boolean {
  return !turn && queue.length + steers.length === 0
}
