import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { parseObject } from '../base/json.ts'
import type { Attachment, JsonObject, Message, Reasoning } from '../base/message.ts'
import type { ModelRequest } from './types.ts'

/** The content that a provider's wire can carry. */
export interface PromptStyle {
  /** Whether a thinking block of a past message is sent back. */
  keepsReasoning: (block: Reasoning, position: { inThisTurn: boolean }) => boolean
  /** Whether tool results may contain files; otherwise files follow the results in a separate message. */
  filesInToolResults: boolean
  /**
   * Whether audio may be sent; otherwise a line of text replaces it, because a wire that rejects audio would
   * reject the conversation from then on.
   */
  takesSound?: boolean
  /** The form of the arguments of past calls: JSON text (the default), or parsed. */
  argumentsAs?: 'text' | 'object'
}

/** One call in the SDK's types; all its tools are functions. */
export interface SdkCall extends LanguageModelV4CallOptions {
  tools?: LanguageModelV4FunctionTool[]
}

/** Converts a request to the SDK's types, without options of single providers. */
export function toSdkCall(request: ModelRequest, style: PromptStyle): SdkCall {
  const { tools, toolChoice, schema, maxOutputTokens } = request
  return {
    prompt: toPrompt(request, style),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    ...(toolChoice !== undefined && { toolChoice: toToolChoice(toolChoice) }),
    ...(schema && { responseFormat: { type: 'json', schema: schema as JSONSchema7 } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  }
}

function toPrompt({ system, messages }: ModelRequest, style: PromptStyle): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }]
  const turnStart = findTurnStart(messages)
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]!
    if (message.role === 'user') prompt.push(toUser(message.content, message.attachments, style))
    else if (message.role === 'assistant') prompt.push(...toAssistant(message, style, at > turnStart))
    else if (messages[at - 1]?.role !== 'tool')
      prompt.push(...toToolMessages(resultsFrom(messages, at), style))
  }
  return prompt
}

/**
 * Returns the index of the message that started the turn. A user message directly after tool results steers
 * their turn and does not start one.
 */
function findTurnStart(messages: readonly Message[]): number {
  let behind: Message['role'] | undefined
  let start = -1
  for (const [at, { role }] of messages.entries()) {
    if (role !== 'user') behind = role
    else if (behind !== 'tool') start = at
  }
  return start
}

function toUser(
  text: string,
  attachments: readonly Attachment[] = [],
  style: PromptStyle,
): LanguageModelV4Message {
  const { files, note } = splitAttachments(attachments, style)
  const body = [text, note].filter(Boolean).join('\n')
  const words = body === '' ? [] : [{ type: 'text' as const, text: body }]
  return { role: 'user', content: [...files.map(toFile), ...words] }
}

/** Returns the files of a message that the wire accepts, and a note about the others. */
function splitAttachments(attachments: readonly Attachment[], { takesSound = false }: PromptStyle) {
  const isOmitted = ({ media_type: type }: Attachment) => type.startsWith('audio/') && !takesSound
  const omitted = attachments.filter(isOmitted)
  const note = omitted
    .map(({ media_type: type }) => `[${type} left out: this model takes no sound]`)
    .join('\n')
  return { files: omitted.length === 0 ? attachments : attachments.filter((one) => !isOmitted(one)), note }
}

/**
 * Returns one message or none: an answer that was only thinking may have nothing to send, and wires reject
 * empty messages.
 */
function toAssistant(message: Message, style: PromptStyle, inThisTurn: boolean): LanguageModelV4Message[] {
  const { content: text, reasoning = [], tool_calls: calls = [] } = message
  const content = [
    ...reasoning
      .filter((block) => style.keepsReasoning(block, { inThisTurn }))
      .map((block) => ({ type: 'reasoning' as const, text: block.text, ...withMeta(block.meta) })),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, arguments: input, meta }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input: style.argumentsAs === 'object' ? JSON.parse(toArguments(input)) : toArguments(input),
      ...withMeta(meta),
    })),
  ]
  return content.length > 0 ? [{ role: 'assistant', content }] : []
}

/**
 * Returns arguments as a JSON object, which wires require. The model may have written something else, which
 * must not make every later request fail.
 */
function toArguments(text: string): string {
  if (text.trim() === '') return '{}'
  return parseObject(text) ? text : JSON.stringify({ rawInvalidInput: text })
}

function resultsFrom(messages: readonly Message[], start: number): readonly Message[] {
  const end = messages.findIndex(({ role }, at) => at > start && role !== 'tool')
  return messages.slice(start, end === -1 ? undefined : end)
}

function toToolMessages(results: readonly Message[], style: PromptStyle): LanguageModelV4Message[] {
  const all = style.filesInToolResults ? [] : results.flatMap(({ attachments = [] }) => attachments)
  const { files } = splitAttachments(all, style)
  const content = results.map((result) => toToolResult(result, style))
  const following = files.length > 0 ? [toUser('Files of the tool results above:', files, style)] : []
  return [{ role: 'tool', content }, ...following]
}

function toToolResult(message: Message, style: PromptStyle): LanguageModelV4ToolResultPart {
  const { tool_call_id: toolCallId = '', name: toolName = '', attachments = [] } = message
  const { files, note } = splitAttachments(attachments, style)
  const text = note === '' ? message.content : `${message.content}\n${note}`
  const result = { type: 'tool-result' as const, toolCallId, toolName }
  if (message.is_error) return { ...result, output: { type: 'error-text', value: text } }
  if (!style.filesInToolResults || files.length === 0)
    return { ...result, output: { type: 'text', value: text } }
  return {
    ...result,
    output: { type: 'content', value: [{ type: 'text', text }, ...files.map(toFile)] },
  }
}

function toFile({ media_type: mediaType, data, name }: Attachment): LanguageModelV4FilePart {
  return {
    type: 'file',
    mediaType,
    data: { type: 'data', data },
    ...(name !== undefined && { filename: name }),
  }
}

function toTool({
  name,
  description,
  parameters,
}: ModelRequest['tools'][number]): LanguageModelV4FunctionTool {
  return { type: 'function', name, description, inputSchema: parameters as JSONSchema7 }
}

function toToolChoice(
  choice: NonNullable<ModelRequest['toolChoice']>,
): NonNullable<LanguageModelV4CallOptions['toolChoice']> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool }
}

function withMeta(meta: JsonObject | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return meta ? { providerOptions: meta as SharedV4ProviderOptions } : {}
}
