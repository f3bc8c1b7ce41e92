/** Kinds of events as they are written in a shell: the proto's names in lower case. */
export const EVENT_KIND_NAMES = [
  'turn-started',
  'text-delta',
  'text-start',
  'text-end',
  'thinking-delta',
  'thinking-start',
  'thinking-end',
  'tool-start',
  'tool-result',
  'tools-complete',
  'done',
  'turn-failed',
  'ask-opened',
  'ask-closed',
  'published',
] as const

export type KindName = (typeof EVENT_KIND_NAMES)[number]

/** Those that are followed where none is named: what happens, without every word. */
export const DEFAULT_EVENT_KINDS: readonly KindName[] = [
  'turn-started',
  'tool-start',
  'tool-result',
  'done',
  'turn-failed',
  'ask-opened',
  'ask-closed',
  'published',
]
