/** What is asked when a message names no agent. */
export const DEFAULT_AGENT = 'crab'
