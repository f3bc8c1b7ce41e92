import { pluralize } from '../../core/base/format.ts'
import type { AttachState } from '../../core/protocol/crabtalk.generated.ts'
import type { ChatPorts } from '../ports.ts'
import { toBlocks } from '../state/history-blocks.ts'
import type { ChatStore } from '../state/store.ts'
import { titleFor } from '../state/title-for.ts'
import type { Block } from '../view/blocks.ts'
import { fetchLastMessages } from './last-messages.ts'

/** The circumstances in which a conversation is shown. */
export interface Opening {
  /**
   * The reason: the chat starts; the user asked for it, for a new one, or for another agent; or another client
   * switched to it.
   */
  as: 'first' | 'continued' | 'new' | 'agent' | 'elsewhere'
  /** A fact about it that the user should know. */
  note?: string
  /** Fail with `conflict` when another window has it open. */
  isExclusive?: boolean
  /** The session to make the active one, once it is certain that no other window has it open. */
  session?: string | undefined
}

interface ShowContext {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch' | 'cwd' | 'shownCwd' | 'abbreviate' | 'enter' | 'branch' | 'memory'>
}

/** The number of earlier messages that are printed when a conversation is opened; the transcript shows all. */
const SHOWN_MESSAGES = 24

/** Switches the chat to a conversation and prints its last messages. */
export async function showConversation(
  { store, ports }: ShowContext,
  { pair, state, opening }: { pair: { agent: string; sender: string }; state: AttachState; opening: Opening },
  signal: AbortSignal,
): Promise<void> {
  const { session: info, upto } = state
  const tail = info && { session: info.id, upto, most: SHOWN_MESSAGES }
  const { messages, earlier } = tail
    ? await fetchLastMessages(ports.dispatch, tail, signal)
    : { messages: [], earlier: 0 }
  const { id: session, summary = '', model = '', effort = '' } = info ?? { id: undefined }
  const isFirst = opening.as === 'first'
  const title = info ? titleFor(store.get(), info) : ''
  const move = info ? await enterDirectory(ports, info.cwd) : NOT_MOVED
  const stored = { model, effort, tokens: state.contextTokens }
  store.act({ type: 'conversation', ...pair, session, title, summary, ...stored, isFirst })
  const print = (block: Block) => store.act({ type: 'print', block })
  if (earlier > 0) print({ kind: 'rule', text: pluralize(earlier, 'earlier message'), isCut: true })
  for (const block of toBlocks(messages)) print(block)
  if (state.unfinished) print(UNFINISHED)
  const text =
    info && messages.length > 0
      ? describeContinued(title, move.text, opening)
      : describeStart(pair.agent, opening)
  if (text !== '') print({ kind: 'rule', text })
  if (move.problem !== '') print({ kind: 'notice', tone: 'warning', text: move.problem })
  store.act({ type: 'set', change: { followers: state.followers } })
  if (move.hasMoved) showBranch(store, ports)
  if (session !== undefined) void ports.memory.markLookedAt(session)
}

const UNFINISHED: Block = {
  kind: 'notice',
  tone: 'warning',
  text: 'This turn did not finish: its process was stopped. Its finished steps are saved',
}

const NOT_MOVED = { text: '', problem: '', hasMoved: false }

/** Moves the window to the directory of a conversation; if it no longer exists, returns the warning to show. */
async function enterDirectory(ports: ShowContext['ports'], cwd: string): Promise<typeof NOT_MOVED> {
  if (cwd === ports.cwd) return NOT_MOVED
  const shown = ports.abbreviate(cwd)
  if (await ports.enter(cwd)) return { text: ` · in ${shown}`, problem: '', hasMoved: true }
  const problem = `Cannot work in ${shown}: the directory no longer exists. Tools run in ${ports.shownCwd}`
  return { text: '', problem, hasMoved: false }
}

function showBranch(store: ChatStore, ports: ShowContext['ports']): void {
  const show = (branch: string | undefined) => store.act({ type: 'set', change: { branch } })
  ports.branch().then(show, () => show(undefined))
}

/** Says which conversation continues, and in which directory when that is another one. */
function describeContinued(name: string, moved: string, { as, note = '' }: Opening): string {
  const who = as === 'elsewhere' ? ' · opened in another window' : ''
  const more = note === '' ? '' : ` · ${note}`
  return `continued${name === '' ? '' : `: ${name}`}${who}${moved}${more} · /new starts a new one`
}

function describeStart(agent: string, { as, note = '' }: Opening): string {
  if (as === 'elsewhere') return 'new conversation, started in another window'
  const what = as === 'agent' ? `${agent}: new conversation` : 'new conversation'
  if (note !== '') return `${what} · ${note}`
  return as === 'first' ? '' : what
}
