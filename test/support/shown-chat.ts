import { PassThrough } from 'node:stream'
import type { Dispatch } from '../../src/core/protocol/dispatch.ts'
import { openChat } from '../../src/tui/chat.ts'
import type { ChatOptions, ChatPorts } from '../../src/tui/ports.ts'
import { chatPorts } from './chat-ports.ts'
import { CHAT_OPTIONS } from './chat-state.ts'
import type { Script } from './model-server.ts'
import { makeVirtualTerminal, streamTo, type VirtualTerminal } from './screen.ts'
import { startTestDispatch, type TestDispatch } from './test-dispatch.ts'
import { until } from './until.ts'

/** The whole chat on a terminal in memory: real agents, a scripted model, bytes in, a screen out. */
export interface ShownChat extends AsyncDisposable {
  node: TestDispatch
  terminal: VirtualTerminal
  /** Resolves, or rejects, like openChat(). */
  done: ReturnType<typeof openChat>
  /** Sends bytes of the keyboard. */
  type(bytes: string): void
  /** Returns scrollback and screen. */
  text(): string
  /** Returns the bytes of each write to the terminal. */
  writes(): readonly string[]
  /** Waits until these texts are visible, in this order. */
  see(...words: readonly string[]): Promise<void>
  /** Waits until the text is no longer on the screen. */
  gone(words: string): Promise<void>
}

export interface ShownOptions {
  options?: Partial<ChatOptions>
  ports?: Partial<ChatPorts>
  /** Wraps the dispatch between the chat and the agents. */
  between?: (dispatch: Dispatch) => Dispatch
  signal?: AbortSignal
  /** The node of an earlier chat; this chat then disposes it. */
  node?: TestDispatch
}

export async function openShownChat(script: Script, shown: ShownOptions = {}): Promise<ShownChat> {
  const { options = {}, ports = {}, between = (dispatch) => dispatch } = shown
  const node = shown.node ?? (await startTestDispatch(script))
  const terminal = makeVirtualTerminal()
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  }) as unknown as NodeJS.ReadStream & PassThrough
  const over = new AbortController()
  const used = chatPorts(between(node.dispatch), { cwd: node.home.paths.home, ...ports })
  const stream = streamTo(terminal)
  const done = openChat(
    used,
    { ...CHAT_OPTIONS, ...options },
    { stdin, stdout: stream as unknown as NodeJS.WriteStream, hooks: NO_HOOKS, reflow: 'xterm.js' },
    AbortSignal.any([over.signal, ...(shown.signal ? [shown.signal] : [])]),
  )
  done.catch(() => undefined) // the caller that awaits it sees the error
  const text = () => [...terminal.scrollback(), ...terminal.lines()].map((line) => line.trimEnd()).join('\n')
  return {
    node,
    terminal,
    done,
    text,
    writes: stream.writes,
    type: (bytes) => void stdin.write(bytes),
    see: (...words) => until(`"${words.join('", then "')}" is seen`, () => follow(words, text())),
    gone: (words) => until(`"${words}" is gone`, () => !terminal.lines().join('\n').includes(words)),
    async [Symbol.asyncDispose]() {
      over.abort()
      await done.catch(() => undefined)
      if (!shown.node) await node[Symbol.asyncDispose]()
    },
  }
}

/**
 * Chooses on the visible card: with a digit when the card accepts digits, and with Enter when it accepts
 * that.
 */
export async function chooseDigit(chat: ShownChat, digit: string): Promise<void> {
  const shows = (pattern: RegExp) => pattern.test(chat.terminal.lines().join('\n'))
  await until('the card takes digits', () => shows(/^ {3}A digit or arrows/m))
  chat.type(digit)
  await until(`Enter answers ${digit}`, () => shows(/^ {3}Enter/m))
  chat.type('\r')
}

const NO_HOOKS = {
  onExit: () => NOTHING,
  onStop: () => NOTHING,
  onContinue: () => NOTHING,
  stop() {},
  writeNow() {},
  makeCooked() {},
}

const NOTHING: Disposable = { [Symbol.dispose]() {} }

/** Whether a text contains all of these, in this order. */
function follow(words: readonly string[], text: string): boolean {
  let at = 0
  return words.every((word) => {
    const found = text.indexOf(word, at)
    at = found + word.length
    return found >= 0
  })
}
