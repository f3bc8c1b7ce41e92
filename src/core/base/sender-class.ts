/**
 * Returns the trust class of a sender's turns on the home's own socket, by its name. `cron` and `event:…` are
 * unattended. Other senders with a colon are untrusted (`tg:42`, through a gateway), except `sh:…`, which the
 * user's own programs choose.
 */
export function classifySender(sender: string): 'local' | 'unattended' | 'remote' {
  if (sender === 'cron' || sender.startsWith('event:')) return 'unattended'
  return sender.includes(':') && !isWindowSender(sender) ? 'remote' : 'local'
}

/**
 * Whether a program of the user generated the sender for one conversation, as each window of the chat does: `sh:…`. It
 * stands for the user, and means nothing to a reader.
 */
export function isWindowSender(sender: string): boolean {
  return sender.startsWith('sh:')
}

/** Names a conversation without a title: by its agent and sender, or as a chat if a window generated the sender. */
export function namePair({ agent, sender }: { agent: string; sender: string }): string {
  return isWindowSender(sender) ? `a chat with ${agent}` : `${agent}/${sender}`
}

/** Lists the participants of a conversation: its agent, and its sender unless a window generated it. */
export function listSpeakers({ agent, sender }: { agent: string; sender: string }): string[] {
  return isWindowSender(sender) ? [agent] : [agent, sender]
}
