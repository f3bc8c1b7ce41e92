import { isAbsolute } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import type { Attachment as StoredAttachment } from '../../core/base/message.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import {
  type Attachment,
  type StreamMsg,
  ToolSet,
  type TurnOptions,
} from '../../core/protocol/crabtalk.generated.ts'
import type { ToolMode, TurnRequest, TurnSettings } from '../../core/runtime/turn-request.ts'
import { readObject } from './json-text.ts'

/** The sender of a message that names none (wire.md). */
const DEFAULT_SENDER = 'user'

/** A turn as the runtime takes it. Throws `invalid` for a relative directory and options that make no sense. */
export function toTurnRequest(message: StreamMsg): TurnRequest {
  const { agent, content, sender, cwd, guest, toolChoice, options } = message
  if (cwd && !isAbsolute(cwd))
    throw new CrabError('invalid', `Cannot work in ${cwd}: it is not an absolute path`)
  return {
    agent: agent || DEFAULT_AGENT,
    sender: sender || DEFAULT_SENDER,
    content,
    ...(cwd && { cwd }),
    ...(guest && { guest }),
    ...(toolChoice && { toolChoice }),
    settings: options ? toSettings(options) : {},
  }
}

function toSettings(options: TurnOptions): TurnSettings {
  const { model, system, schema, maxTurns, maxCost, thinking, retries, attachments, ephemeral, env } = options
  const tools = toToolMode(options.tools)
  return {
    ...(model && { model }),
    ...(system !== undefined && { system }),
    ...(tools && { tools }),
    ...(schema && { schema: readObject('Cannot use the schema', schema) }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxCost !== undefined && { maxCostUsd: maxCost }),
    ...(thinking !== undefined && { thinking }),
    ...(retries !== undefined && { retries }),
    attachments: attachments.map(toStoredAttachment),
    ephemeral,
    env,
  }
}

function toToolMode(tools: ToolSet): ToolMode | undefined {
  switch (tools) {
    case ToolSet.NONE:
      return 'none'
    case ToolSet.READ:
      return 'read'
    case ToolSet.ALL:
      return 'all'
    default:
      return undefined
  }
}

function toStoredAttachment({ mediaType, data, name }: Attachment): StoredAttachment {
  const stored = { media_type: mediaType, data: Buffer.from(data).toString('base64') }
  return name === '' ? stored : { ...stored, name }
}
