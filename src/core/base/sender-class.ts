/**
 * Returns the trust class of a sender's turns on the home's own socket, by its name. `cron` and `event:…` are
 * unattended. Other senders with a colon are untrusted (`tg:42`, through a gateway), except `sh:…`, which the
 * user's own programs choose.
 */
export function classifySender(sender: string): 'local' | 'unattended' | 'remote' {
  if (sender === 'cron' || sender.startsWith('event:')) return 'unattended'
  return sender.includes(':') && !isWindowSender(sender) ? 'remote' : 'local'
}

/** Whether a sender was made for one conversation of the user, such as that of a window: its name says nothing. */
export function isWindowSender(sender: string): boolean {
  return sender.startsWith('sh:')
}
