/** The agent that receives messages that do not name one. */
export const DEFAULT_AGENT = 'crab'
