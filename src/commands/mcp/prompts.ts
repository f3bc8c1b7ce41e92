import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { CrabError } from '../../core/base/errors.ts'
import { McpActionKind, type McpPrompt } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { askServers } from './ask-servers.ts'
import { attachServers } from './attach-servers.ts'
import { announceAttachment, printToolText } from './call.ts'
import { readAgentOption } from './change.ts'

/** Runs `crabtalk mcp prompts`. */
export const listPromptsCommand: CommandHandler = async (invocation) => {
  const { options, host } = invocation
  const what = { action: McpActionKind.PROMPTS, doing: 'listing prompts' }
  const { answers, exitCode } = await askServers(invocation, what)
  const found = answers.flatMap(({ server, result }) =>
    result.prompts.map((prompt) => ({ server, ...prompt })),
  )
  if (options.has('json')) {
    printJson(host, found)
    return exitCode
  }
  const isOne = options.args.length > 0
  const rows = found.map((prompt) => [
    ...(isOne ? [] : [prompt.server]),
    ...[prompt.name, toUsage(prompt), prompt.description],
  ])
  if (rows.length > 0)
    await printTable(host, [...(isOne ? [] : ['SERVER']), 'PROMPT', 'ARGUMENTS', 'DESCRIPTION'], rows)
  else if (exitCode === 0) host.stderr.write('No prompts\n')
  return exitCode
}

/** Formats the arguments of a prompt as `path= [tone=]`. */
function toUsage({ arguments: parameters }: McpPrompt): string {
  return parameters.map(({ name, required }) => (required ? `${name}=` : `[${name}=]`)).join(' ') || '-'
}

/** Runs `crabtalk mcp prompt`. */
export const getPromptCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', tool = '', ...words] = options.args
  const args = Object.fromEntries(words.map(readPair))
  await using attached = await attachServers(host, signal)
  const message = {
    ...{ agent: readAgentOption(options), name, action: McpActionKind.GET_PROMPT, tool },
    arguments: JSON.stringify(args),
  }
  const getting = request(attached.dispatch, 'mcpAction', message, signal)
  const { promptMessages } = await withProgress(host, `getting ${tool} of ${name}`, getting)
  if (options.has('json')) {
    printJson(host, promptMessages.map(toJsonMessage))
    return 0
  }
  const isOne = promptMessages.length === 1 && promptMessages[0]!.role === 'user'
  const texts = promptMessages.map(({ role, content }) => (isOne ? content : `[${role}]\n${content}`))
  printToolText(host, texts.join('\n\n'))
  for (const file of promptMessages.flatMap(({ attachments }) => attachments)) announceAttachment(host, file)
  return 0
}

function toJsonMessage({
  role,
  content,
  attachments,
}: {
  role: string
  content: string
  attachments: { mediaType: string; name: string; data: Uint8Array }[]
}) {
  const files = attachments.map(({ mediaType, name, data }) => ({
    ...{ media_type: mediaType, name: name || null, data: Buffer.from(data).toString('base64') },
  }))
  return { role, content, attachments: files }
}

/** Parses a `key=value` word; the value stays text even if it looks like JSON, because prompts take text. */
function readPair(word: string, index: number): [string, string] {
  const at = word.indexOf('=')
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)]
  const which = `word ${index + 1} after the prompt`
  throw new CrabError('usage', `Cannot use ${which} as an argument: it is not key=value`, {
    hint: 'for example path=notes.md',
  })
}
