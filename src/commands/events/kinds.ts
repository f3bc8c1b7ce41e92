/** The kinds of events as they are written in a shell: the names of the proto file in lower case. */
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

/** The name of an event kind in a shell. */
export type KindName = (typeof EVENT_KIND_NAMES)[number]

/** The kinds that are followed by default: everything that happens, without every word. */
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
