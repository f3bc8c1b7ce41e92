import { newMenu } from '../overlays/menu.ts'
import { newPicker } from '../overlays/picker.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** Opens the catalog of MCP servers, filtered by what the user typed after the command. */
export async function showCatalog(filter: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent } = context.state()
  const options = await context.ports.catalog.list(agent, signal)
  const items = options.map(({ id, detail, isInstalled }) => {
    return {
      value: id,
      label: id,
      detail: isInstalled ? `installed · ${detail}` : detail,
      isCurrent: isInstalled,
    }
  })
  const picker = newPicker({ picker: CATALOG, title: `Add a server to ${agent}`, items }, filter)
  showOverlay(context, picker)
}

/** Shows what the installation of a server would run or connect to, and asks. */
export async function confirmInstall(id: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent } = context.state()
  const plan = await context.ports.catalog.plan(id, agent, signal)
  const items = [
    {
      value: agent,
      label: 'Install',
      detail: plan.isReady ? `starts it and adds it to ${agent}` : `adds it to ${agent}`,
    },
    { value: '', label: 'Cancel', detail: 'changes nothing' },
  ]
  const title = `Install ${id}?`
  showOverlay(context, newMenu({ picker: INSTALL, subject: id, title, note: plan.target, items }))
}

/** Installs a server for an agent, empty for none, and says what is left to do. */
export async function installFromCatalog(
  { agent, id }: { agent: string; id: string },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (agent === '') return showOverlay(context, undefined)
  try {
    const { text, steps } = await context.ports.catalog.install(id, agent, signal)
    const hint = steps.length === 0 ? undefined : `run in a terminal: ${steps.join(', then ')}`
    printNotice(context, steps.length === 0 ? 'info' : 'warning', text, hint)
  } finally {
    showOverlay(context, undefined)
  }
}

/** The picker of servers. */
export const CATALOG = 'catalog'
/** The question before an installation. */
export const INSTALL = 'catalog-install'
