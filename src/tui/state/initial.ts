import { DEFAULT_CHAT_SETTINGS } from '../../core/base/chat-settings.ts'
import type { ChatOptions } from '../ports.ts'
import { EMPTY_PROMPT } from '../text/prompt.ts'
import type { ChatState, UsageTotals } from './types.ts'

/** The usage of a conversation without turns. */
export const NO_USAGE_TOTALS: UsageTotals = {
  last: undefined,
  context: undefined,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  usd: 0,
  turns: 0,
}

/** Returns the state at the start of the chat. */
export function initialState({
  agent,
  sender,
  session,
  model,
  effort,
  mode,
  roots = [],
}: ChatOptions): ChatState {
  return {
    agent,
    sender,
    session,
    title: '',
    summary: '',
    model: model ?? '',
    chosenModel: model,
    effort: effort ?? '',
    chosenEffort: effort,
    choiceScope: 'window',
    launch: { model, effort, roots },
    usual: { model: '', effort: '' },
    settings: DEFAULT_CHAT_SETTINGS,
    terminalColors: { depth: 4 },
    mode: mode ?? 'ask',
    chosenMode: mode,
    usualMode: 'ask',
    thinking: false,
    branch: undefined,
    roots,
    place: undefined,
    isLinkLost: false,
    followers: 0,
    running: [],
    models: [],
    turn: undefined,
    welcome: undefined,
    finished: [],
    nextId: 0,
    isAfterCall: false,
    open: undefined,
    tools: [],
    details: false,
    asks: [],
    steers: [],
    returned: [],
    queue: [],
    prompt: EMPTY_PROMPT,
    overlay: undefined,
    isOverlayArmed: false,
    isLent: false,
    isCommanding: false,
    usage: NO_USAGE_TOTALS,
    servers: new Map(),
    shownNotices: new Set(),
    hint: '',
    shellOutput: '',
    isFullscreen: false,
    isLeaving: false,
  }
}
