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
import { toReadRuleNames } from '../../mcp/resources/read-rule-names.ts'
import type { ResourceView } from '../../mcp/resources/types.ts'
import type { McpServers } from '../../mcp/types.ts'
import type { Services } from '../services.ts'
import { MAX_RESULT_BYTES, toAttachment } from './attachment.ts'
import { readObject } from './json-text.ts'
import { judgeTool, loadAgentRules } from './mcp-policy.ts'

interface Acting {
  services: Services
  servers: McpServers
  agent: AgentConfig
  message: McpAction
}

type Act = (acting: Acting, signal: AbortSignal) => Promise<Partial<Omit<McpActionResult, 'peer'>>>

/** What `mcp_action` does with what servers have besides tools. */
export const RESOURCE_ACTIONS: Partial<Record<McpActionKind, Act>> = {
  [McpActionKind.RESOURCES]: resources,
  [McpActionKind.READ_RESOURCE]: readResource,
  [McpActionKind.PROMPTS]: prompts,
  [McpActionKind.GET_PROMPT]: getPrompt,
}

async function resources({ servers, agent, message }: Acting, signal: AbortSignal) {
  const { resources, templates } = await servers.resources(agent, message.name, signal)
  return { resources: resources.map(toResource), resourceTemplates: [...templates] }
}

function toResource({ size, ...resource }: ResourceView): McpResource {
  return { ...resource, ...(size !== undefined && { size }) }
}

async function readResource({ services, servers, agent, message }: Acting, signal: AbortSignal) {
  const { name, uri } = message
  if (uri === '') throw new CrabError('invalid', 'Cannot read the resource: it has no address')
  await refuseDenied(services, agent, name)
  return await withSpill(services, async (spillDir) => {
    const at = { agent, name, uri, spillDir, outputLimit: MAX_RESULT_BYTES }
    const { output, attachments = [] } = await servers.readResource(at, signal)
    return { output, attachments: attachments.map(toAttachment) }
  })
}

/** A rule that denies holds for a person too, as it does for a call; all else is asked for by asking. */
async function refuseDenied(services: Services, agent: AgentConfig, server: string): Promise<void> {
  const rules = await loadAgentRules(services, agent)
  const { effect, rule, reason } = judgeTool({ server, tool: toReadRuleNames(server) }, rules)
  if (effect !== 'deny') return
  const hint = rule ? `change the rule ${rule.pattern} of ${rule.source}` : undefined
  throw new CrabError('denied', `Cannot read resources of "${server}": ${reason}`, hint ? { hint } : {})
}

async function prompts({ servers, agent, message }: Acting, signal: AbortSignal) {
  const listed = await servers.prompts(agent, message.name, signal)
  return {
    prompts: listed.map(({ name, description, arguments: blanks }) => ({
      name,
      description,
      arguments: blanks.map(({ isRequired: required, ...blank }) => ({ ...blank, required })),
    })),
  }
}

async function getPrompt({ services, servers, agent, message }: Acting, signal: AbortSignal) {
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
      throw new CrabError('invalid', `${what}: ${name} is no text`)
    }),
  )
}

/** With a folder for what is too long to answer with, which stays only if something is in it. */
async function withSpill<T>({ node }: Services, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(node.paths.cache, 'output', 'mcp', newUlid())
  try {
    return await work(folder)
  } finally {
    await rmdir(folder).catch(() => undefined) // it was never made, or somebody needs what is in it
  }
}
