import { toCrabError } from '../../core/base/errors.ts'
import { BUILT_IN_TOOLS } from '../../core/base/tool-names.ts'
import type { McpToolView } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { effectName } from '../../core/questions/rule-text.ts'
import { newPage } from '../overlays/page.ts'
import { explainPolicy, ruleText } from './explain-policy.ts'
import { inColumns, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/tools`: lists the agent's tools, each with the policy's current decision. */
export async function showTools(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent, mode } = context.state()
  const builtIn = await Promise.all(
    BUILT_IN_TOOLS.map(async (tool) => await builtInRow(tool, context, signal)),
  )
  const view = await request(context.dispatch, 'mcpView', { agent }, signal)
  const servers = view.agents.flatMap((one) => one.servers)
  const lines = [
    `Built in, in mode ${mode}; whether a call is allowed depends on its arguments: /permissions bash(npm test)`,
    inColumns(builtIn.flatMap((row) => (row ? [row] : []))),
  ]
  for (const { name, tools, listed } of servers) {
    lines.push(
      '',
      `MCP server ${name}${listed ? '' : ': its tools are not known before it has run'}`,
      inColumns(tools.map(toolLine)),
    )
  }
  if (servers.length === 0) lines.push('', `${agent} has no MCP servers`)
  showOverlay(context, newPage(`Tools of ${agent}`, lines.join('\n')))
}

/**
 * Formats a tool of a server as the model gets it: its name, the policy's decision with the reason, and its
 * description.
 */
export function toolLine(tool: McpToolView): [name: string, about: string] {
  const { name, remoteName, effect, rule, hidden, description } = tool
  const about = hidden === '' ? [effectName(effect), rule ? ruleText(rule) : 'no rule'] : ['hidden', hidden]
  const words = [...about, description].filter((text) => text !== '')
  return [hidden === '' ? name : remoteName, words.join(' · ')]
}

/** A command that matches none of the built-in read-only forms. */
const NO_COMMAND = 'a-command'

/** Sample arguments that show the decision about an unspecific call. */
const SAMPLES: Readonly<Record<string, object>> = {
  bash: { command: NO_COMMAND },
  read: { path: '.' },
  edit: { path: 'a-new-file' },
  write: { path: 'a-new-file' },
}

async function builtInRow(
  tool: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<[string, string] | undefined> {
  try {
    const { effect, reason, rule } = await explainPolicy(
      { tool, arguments: JSON.stringify(SAMPLES[tool] ?? {}) },
      context,
      { signal },
    )
    const why = rule ? ruleText(rule) : reason.replace(NO_COMMAND, 'the command')
    return [tool, [effectName(effect), why].join(' · ')]
  } catch (reason) {
    const { kind, message } = toCrabError(reason)
    if (kind === 'cancelled') throw reason
    return kind === 'missing' ? undefined : [tool, message]
  }
}
