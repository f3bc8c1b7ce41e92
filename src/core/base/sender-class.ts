/**
 * The class of a sender's turns at the home's own socket, by its name: `cron` and `event:…` are unattended, other senders
 * with a colon are untrusted (`tg:42`, through a gateway), except `sh:…`, which this user's own programs choose.
 */
export function classifySender(sender: string): 'local' | 'unattended' | 'remote' {
  if (sender === 'cron' || sender.startsWith('event:')) return 'unattended'
  return sender.includes(':') && !sender.startsWith('sh:') ? 'remote' : 'local'
}
