/** The shells there are completions for. */
export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

export type Shell = (typeof COMPLETION_SHELLS)[number]
