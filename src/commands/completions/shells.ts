/** The shells that have completions. */
export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

/** A shell that has completions. */
export type Shell = (typeof COMPLETION_SHELLS)[number]
