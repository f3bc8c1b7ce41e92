import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import {
  type McpAction,
  McpActionKind,
  type McpActionResult,
  type McpResource,
} from '../../core/protocol/crabtalk.generated.ts'
import { toReadRuleNames } from '../../mcp/tools/tool-names.ts'
import type { McpServers, ResourceView } from '../../mcp/types.ts'
import type { Services } from '../services.ts'
import { MAX_RESULT_BYTES, toAttachment } from './attachment.ts'
import { readObject } from './json-text.ts'
import { judgeTool, loadAgentRules } from './mcp-policy.ts'

interface ActionContext {
  services: Pick<Services, 'node' | 'agents' | 'rules'>
  servers: McpServers
  agent: AgentConfig
  message: McpAction
}

type Act = (context: ActionContext, signal: AbortSignal) => Promise<Partial<Omit<McpActionResult, 'peer'>>>

/** The actions of `mcp_action` on the resources and prompts of servers. */
export const RESOURCE_ACTIONS: Partial<Record<McpActionKind, Act>> = {
  [McpActionKind.RESOURCES]: resources,
  [McpActionKind.READ_RESOURCE]: readResource,
  [McpActionKind.PROMPTS]: prompts,
  [McpActionKind.GET_PROMPT]: getPrompt,
}

async function resources({ servers, agent, message }: ActionContext, signal: AbortSignal) {
  const { resources, templates } = await servers.resources(agent, message.name, signal)
  return { resources: resources.map(toResource), resourceTemplates: [...templates] }
}

function toResource({ size, ...resource }: ResourceView): McpResource {
  return { ...resource, ...(size !== undefined && { size }) }
}

async function readResource({ services, servers, agent, message }: ActionContext, signal: AbortSignal) {
  const { name, uri } = message
  if (uri === '') throw new CrabError('invalid', 'Cannot read the resource: its address is missing')
  await refuseDenied(services, agent, name)
  return await withSpill(services, async (spillDir) => {
    const at = { agent, name, uri, spillDir, outputLimit: MAX_RESULT_BYTES }
    const { output, attachments = [] } = await servers.readResource(at, signal)
    return { output, attachments: attachments.map(toAttachment) }
  })
}

/**
 * Throws `denied` when a rule denies reading, for a person as for a call. Rules that ask do not apply: the
 * request of the user is the answer.
 */
async function refuseDenied(
  services: Pick<Services, 'agents' | 'rules'>,
  agent: AgentConfig,
  server: string,
): Promise<void> {
  const rules = await loadAgentRules(services, agent)
  const { effect, rule, reason } = judgeTool({ server, tool: toReadRuleNames(server) }, rules)
  if (effect !== 'deny') return
  const hint = rule ? `change the rule ${rule.pattern} of ${rule.source}` : undefined
  throw new CrabError('denied', `Cannot read resources of "${server}": ${reason}`, hint ? { hint } : {})
}

async function prompts({ servers, agent, message }: ActionContext, signal: AbortSignal) {
  const listed = await servers.prompts(agent, message.name, signal)
  return {
    prompts: listed.map(({ name, description, arguments: parameters }) => ({
      name,
      description,
      arguments: parameters.map(({ isRequired: required, ...parameter }) => ({ ...parameter, required })),
    })),
  }
}

async function getPrompt({ services, servers, agent, message }: ActionContext, signal: AbortSignal) {
  const { name, tool: prompt } = message
  const args = readTexts(message.arguments)
  return await withSpill(services, async (spillDir) => {
    const messages = await servers.getPrompt({ agent, name, prompt, args, spillDir }, signal)
    return {
      promptMessages: messages.map(({ role, content, attachments }) => ({
        role,
        content,
        attachments: attachments.map(toAttachment),
      })),
    }
  })
}

function readTexts(text: string): Record<string, string> {
  const what = 'Cannot read the arguments of the prompt'
  const entries = text === '' ? [] : Object.entries(readObject(what, text))
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value === 'string') return [name, value]
      throw new CrabError('invalid', `${what}: ${name} is not a string`)
    }),
  )
}

/**
 * Runs `work` with a folder for output that is too long to return, and removes the folder if it is empty
 * afterwards.
 */
async function withSpill<T>(
  { node }: Pick<Services, 'node'>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(node.paths.cache, 'output', 'mcp', newUlid())
  try {
    return await work(folder)
  } finally {
    await rmdir(folder).catch(() => undefined) // never created, or still needed because it holds spilled output
  }
}
