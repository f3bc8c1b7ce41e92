import { toCrabError } from '../../core/base/errors.ts'
import { McpActionKind, type McpActionResult } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPage } from '../overlays/page.ts'
import type { SessionServerRow } from '../ports.ts'
import { getServerPanel } from '../state/focus.ts'
import { showCatalog } from './catalog.ts'
import { logInTo } from './login.ts'
import { mcpPanel, type PanelTarget, readTarget, updatedPanel } from './mcp-panel.ts'
import { inColumns, showOverlay } from './print.ts'
import { toolLine } from './tools.ts'
import type { SlashContext } from './types.ts'

/**
 * `/mcp`: shows all servers in their current state; `/mcp view` says who decided which servers an agent gets, and
 * `/mcp add`, or no servers, opens the catalog.
 */
export async function showMcp(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const add = /^add(?:\s+(.*))?$/.exec(args)
  if (add) return await showCatalog(add[1] ?? '', context, signal)
  const viewed = /^view(?:\s+(\S+))?$/.exec(args)
  if (viewed) return await showView({ agent: viewed[1] ?? context.state().agent }, context, signal)
  const view = await request(context.dispatch, 'mcpView', {}, signal)
  const session = await context.ports.servers.list()
  const panel = mcpPanel(view, { ...context.state(), session })
  if (panel.rows.length > 0) showOverlay(context, panel)
  else await showCatalog('', context, signal)
}

/** Carries out a key of the panel and shows the result, or the failure, below the table. */
export async function actOnMcp(
  { value, key = '' }: { value: string; key?: string | undefined },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const target = readTarget(value)
  if (!target) return
  if (target.file === '') return void withNote(context, value, `${target.name} ${IS_ELSEWHERE}`)
  if (key === 'v') return await showView(target, context, signal)
  if (key === 'i') return await logInTo(target, context, signal)
  const verb = VERBS.get(key)
  if (!verb) return
  const { agent, name, file } = target
  const server = file === undefined ? undefined : await findFileServer({ name, file }, context)
  const refusal = file === undefined ? undefined : refuseKey(key, { name, file, server })
  if (refusal !== undefined) return void withNote(context, value, refusal)
  if (!withNote(context, value, `${verb.doing} ${name} of ${agent}…`)) return
  try {
    const message = { agent, name, action: verb.action, entry: server?.entry ?? '' }
    const result = await request(context.dispatch, 'mcpAction', message, signal)
    await refreshPanel(context, verb.describeResult(target, result), signal)
    const page = verb.page?.(target, result)
    const panel = getServerPanel(context.state())
    if (page !== undefined && panel) showOverlay(context, newPage(page.title, page.text, panel))
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled') throw reason
    await refreshPanel(context, hint === undefined ? message : `${message} (${hint})`, signal)
  }
}

async function findFileServer(
  { name, file }: { name: string; file: string },
  { ports }: SlashContext,
): Promise<SessionServerRow | undefined> {
  const servers = await ports.servers.list({ readsNow: true })
  return servers.find((one) => one.name === name && one.file === file)
}

/** Says in one line why a key does nothing for a server of a file, and what to do; undefined when the key acts on it. */
function refuseKey(
  key: string,
  { name, file, server }: { name: string; file: string; server: SessionServerRow | undefined },
): string | undefined {
  if (!server) return `${file} does not have ${name} any more`
  const { scope, state, problem, entry } = server
  const change = (verb: string) => `crabtalk mcp ${verb} --scope ${scope} ${name}`
  const enable = file.endsWith('.json') ? `change "disabled" of ${name} in it` : change('enable')
  if (key === 'd') return `${name} belongs to ${file}; to disable it: ${change('disable')}`
  if (key === 'e')
    return `${name} belongs to ${file}; ${state === 'disabled' ? `to enable it: ${enable}` : 'it is not disabled'}`
  if (state === 'disabled') return `${name} is disabled in ${file}; to enable it: ${enable}`
  return entry === undefined ? `Cannot use ${name} of ${file}: ${problem}` : undefined
}

/** The predicate for a server of a conversation that no file of this window gives. */
const IS_ELSEWHERE =
  'belongs to a conversation that has it from elsewhere: no file of this directory gives it'

/** Shows what decided about the servers of an agent, or about one of them; Esc goes back to the panel. */
async function showView(
  target: { agent: string; name?: string },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { title, sections } = await context.ports.servers.view(target, signal)
  const parts = sections.map(({ title: head, rows }) => [head, inColumns(rows)].filter(Boolean).join('\n'))
  showOverlay(context, newPage(title, parts.join('\n\n'), getServerPanel(context.state())))
}

interface Verb {
  action: McpActionKind
  /** Shown while the action runs. */
  doing: string
  describeResult(target: PanelTarget, result: McpActionResult): string
  page?(target: PanelTarget, result: McpActionResult): { title: string; text: string }
}

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  [
    'r',
    {
      action: McpActionKind.RECONNECT,
      doing: 'restarting',
      describeResult: ({ name }, { peer }) =>
        `restarted ${name}${peer ? ` with ${peer.toolCount} tools` : ''}`,
    },
  ],
  [
    'p',
    {
      action: McpActionKind.PING,
      doing: 'pinging',
      describeResult: ({ name }, { durationMs, connectMs }) =>
        `${name} answers in ${durationMs} ms${connectMs > 0 ? `, connected in ${connectMs} ms` : ''}`,
    },
  ],
  [
    'l',
    {
      action: McpActionKind.LOGS,
      doing: 'reading the log of',
      describeResult: () => '',
      page: ({ name }, { logs }) => ({
        title: `Standard error of ${name}`,
        text: logs.length === 0 ? 'No output from this process.' : logs.join('\n'),
      }),
    },
  ],
  [
    't',
    {
      action: McpActionKind.TOOLS,
      doing: 'listing the tools of',
      describeResult: () => '',
      page: ({ agent, name }, { tools }) => ({
        title: `Tools of ${name}, as ${agent} gets them`,
        text: tools.length === 0 ? 'No tools.' : inColumns(tools.map(toolLine)),
      }),
    },
  ],
  [
    'd',
    {
      action: McpActionKind.DISABLE,
      doing: 'disabling',
      describeResult: ({ agent, name }) => `${name} of ${agent} is disabled in the agent's file`,
    },
  ],
  [
    'e',
    {
      action: McpActionKind.ENABLE,
      doing: 'enabling',
      describeResult: ({ agent, name }) => `${name} of ${agent} is enabled; the next turn starts it`,
    },
  ],
])

/** Shows a note about a row below the table; returns whether the panel is still open. */
function withNote(context: SlashContext, noteOf: string, note: string): boolean {
  const panel = getServerPanel(context.state())
  if (panel) showOverlay(context, { ...panel, note, noteOf })
  return panel !== undefined
}

/** Refreshes the panel, unless it was closed meanwhile. */
async function refreshPanel(context: SlashContext, note: string, signal: AbortSignal): Promise<void> {
  const view = await request(context.dispatch, 'mcpView', {}, signal)
  const open = getServerPanel(context.state())
  const session = await context.ports.servers.list()
  const { agent } = context.state()
  if (open) showOverlay(context, updatedPanel({ ...open, note }, view, { agent, session }))
}
