import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { newEntry } from '../overlays/entry.ts'
import type { Entry, Overlay } from '../overlays/types.ts'
import type { PanelTarget } from './mcp-panel.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/login NAME`: logs in to an MCP server, and connects it. */
export async function slashLogin(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  if (args === '')
    return printNotice(
      context,
      'warning',
      'Cannot log in: /login NAME names an MCP server, which /mcp lists',
      'for the provider of models: /connect',
    )
  await logInTo({ agent: context.state().agent, name: args }, context, signal)
}

/**
 * Logs in while an entry shows the address and takes a pasted one. Esc closes the entry, which cancels the login; turns
 * go on meanwhile.
 */
export async function logInTo(
  { agent, name }: PanelTarget,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const back = context.state().overlay
  const subject = `${agent}\n${name}`
  const title = `Log in to ${name}`
  const closed = new AbortController()
  const { promise: pasted, resolve } = Promise.withResolvers<string>()
  const isOpen = () => isLogin(context.state().overlay, subject)
  showOverlay(context, { ...newEntry({ picker: LOGIN, subject, title, back }), isBusy: true })
  let isAsking = false
  const stop = context.subscribe(() => {
    const { overlay } = context.state()
    if (!isLogin(overlay, subject)) closed.abort(new CrabError('cancelled', 'Cancelled'))
    else if (isAsking && overlay.isBusy) resolve(overlay.text)
  })
  const ask = async (page: { address: string; isOpen: boolean }) => {
    if (!isOpen()) return await pasted
    const what = page.isOpen
      ? 'Your browser opens this address; log in there:'
      : 'Open this address in a browser:'
    const after = 'If it ends on a page that cannot be loaded, paste the address of that page here.'
    const help = `${what}\n${page.address}\n${after}`
    showOverlay(context, newEntry({ picker: LOGIN, subject, title, help, back }))
    isAsking = true
    return await pasted
  }
  try {
    const until = AbortSignal.any([signal, closed.signal])
    const text = await context.ports.servers.logIn({ agent, name, ask }, until)
    if (isOpen()) showOverlay(context, undefined)
    printNotice(context, 'success', text)
  } catch (reason) {
    if (signal.aborted) throw reason
    if (closed.signal.aborted) return printNotice(context, 'info', `The login to ${name} is cancelled`)
    if (isOpen()) showOverlay(context, undefined)
    const { message, hint } = toCrabError(reason)
    printNotice(context, 'warning', message, hint)
  } finally {
    stop()
  }
}

function isLogin(overlay: Overlay | undefined, subject: string): overlay is Entry {
  return overlay?.kind === 'entry' && overlay.picker === LOGIN && overlay.subject === subject
}

/** The entry of a login. What is typed is taken by the login that waits for it. */
export const LOGIN = 'mcp-login'
