import { isAbsolute } from 'node:path'
import { parseEffort } from '../../core/base/effort.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { Attachment as StoredAttachment } from '../../core/base/message.ts'
import { checkMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import type { Trust } from '../../core/policy/types.ts'
import {
  ApprovalMode,
  type Attachment,
  OnAsk,
  RetryPolicy,
  type StreamMsg,
  ToolSet,
  type TurnOptions,
} from '../../core/protocol/crabtalk.generated.ts'
import type { ToolMode, TurnRequest, TurnSettings } from '../../core/runtime/turn-request.ts'
import { readObject } from './json-text.ts'

/**
 * Converts a message to a turn request. Throws `invalid` for a relative directory and for invalid options,
 * `denied` for options that only a local turn may set.
 */
export function toTurnRequest(message: StreamMsg, trust: Trust): TurnRequest {
  const { content, cwd, guest, toolChoice, options } = message
  const { agent, sender } = completePair('local', message)
  if (options && trust !== 'local') refuseWidening(options, sender, trust)
  const chosen = resolveTurnDirectory(cwd, sender, trust)
  return {
    agent,
    sender,
    trust,
    content,
    ...(chosen !== undefined && { cwd: chosen }),
    ...(guest && { guest }),
    ...(toolChoice && { toolChoice }),
    settings: options ? { ...toSettings(options), ...(isAttended(message) && { isAttended: true }) } : {},
  }
}

/**
 * Resolves the working directory that a message chose; undefined when it chose none. Throws `denied` when the
 * class of the turn may not choose one, `invalid` for a relative path.
 */
export function resolveTurnDirectory(
  cwd: string | undefined,
  sender: string,
  trust: Trust,
): string | undefined {
  if (!cwd) return undefined
  if (trust !== 'local') {
    const what = `the conversation of "${sender}" is ${DESCRIPTIONS[trust]}`
    throw new CrabError('denied', `Cannot work in ${cwd}: ${what}, and has a directory of its own`, {
      hint: 'leave out the directory',
    })
  }
  if (!isAbsolute(cwd)) throw new CrabError('invalid', `Cannot work in ${cwd}: it is not an absolute path`)
  return cwd
}

/**
 * Whether the client stays to answer while the turn runs: a turn that is not detached ends when its client
 * leaves.
 */
function isAttended({ detach, options }: StreamMsg): boolean {
  return options?.onAsk === OnAsk.CLIENT && !detach
}

function toSettings(options: TurnOptions): TurnSettings {
  const { model, system, schema, maxTurns, maxCost, thinking, effort, retries, attachments, ephemeral, env } =
    options
  const { allow, ask, deny, noMcp } = options
  const tools = toToolMode(options.tools)
  const mode = RUNTIME_MODES.get(options.mode)
  const onAsk = ON_ASK.get(options.onAsk)
  const retryPolicy = RETRY_POLICIES.get(options.retryPolicy)
  return {
    allow,
    ask,
    deny,
    noMcp,
    ...(options.mcps.length > 0 && { mcps: options.mcps.map(toEntry) }),
    ...(mode && { mode }),
    ...(onAsk && { onAsk }),
    ...(options.asksTrust && { asksTrust: true }),
    ...(model && { model }),
    ...(options.keepModel && { keepsModel: true }),
    ...(system !== undefined && { system }),
    ...(tools && { tools }),
    ...(schema && { schema: readObject('Cannot use the schema', schema) }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxCost !== undefined && { maxCostUsd: maxCost }),
    ...(thinking !== undefined && { thinking }),
    ...(options.compactAt !== undefined && { compactAt: toShare(options.compactAt) }),
    ...(effort !== '' && { effort: parseEffort(effort) }),
    ...(retries !== undefined && { retries }),
    ...(retryPolicy && { retryPolicy }),
    attachments: attachments.map(toStoredAttachment),
    ephemeral,
    env,
    ...(options.roots.length > 0 && { roots: options.roots.map(requireAbsolute) }),
    ...(options.side && { side: true, ephemeral: true, tools: 'none' as const }),
  }
}

/** Throws `invalid` for a number that is not a share from 0 to 1. */
function toShare(compactAt: number): number {
  if (compactAt > 0 && compactAt <= 1) return compactAt
  throw new CrabError('invalid', `Cannot compact at ${compactAt}: it is not a share between 0 and 1`)
}

/** Throws `invalid` for an additional directory that is not an absolute path. */
export function requireAbsolute(root: string): string {
  if (isAbsolute(root)) return root
  throw new CrabError('invalid', `Cannot add the directory ${root}: it is not an absolute path`)
}

function toEntry(text: string, at: number): McpEntry {
  const what = `Cannot attach the MCP server ${at + 1}`
  return checkMcpEntry(what, readObject(what, text), undefined)
}

/** The runtime's names of the approval modes. */
export const RUNTIME_MODES: ReadonlyMap<ApprovalMode, TurnSettings['mode']> = new Map([
  [ApprovalMode.ASK, 'ask'],
  [ApprovalMode.EDITS, 'edits'],
  [ApprovalMode.READ_ONLY, 'read-only'],
  [ApprovalMode.ALL, 'all'],
  [ApprovalMode.PLAN, 'plan'],
])

const ON_ASK: ReadonlyMap<OnAsk, TurnSettings['onAsk']> = new Map([
  [OnAsk.CLIENT, 'client'],
  [OnAsk.DENY, 'deny'],
  [OnAsk.FAIL, 'fail'],
  [OnAsk.PARK, 'park'],
])

const RETRY_POLICIES: ReadonlyMap<RetryPolicy, TurnSettings['retryPolicy']> = new Map([
  [RetryPolicy.QUICK, 'quick'],
  [RetryPolicy.PATIENT, 'patient'],
])

/** Throws `denied` for options that would grant a turn more than its class allows. */
export function refuseWidening(
  options: Pick<TurnOptions, 'allow' | 'mode' | 'env' | 'mcps'> &
    Partial<Pick<TurnOptions, 'system' | 'model' | 'keepModel' | 'roots'>>,
  sender: string,
  trust: Exclude<Trust, 'local'>,
): void {
  const { allow, mode, env, mcps, roots = [], system, model, keepModel } = options
  const isUntrusted = trust === 'remote'
  const widening = [
    ...(allow.length > 0 ? ['allow'] : []),
    ...(mode === ApprovalMode.EDITS || mode === ApprovalMode.ALL ? [`mode ${RUNTIME_MODES.get(mode)}`] : []),
    ...(mcps.length > 0 ? ['mcps'] : []),
    ...(roots.length > 0 ? ['roots'] : []),
    ...(Object.keys(env).length > 0 ? ['env'] : []),
    ...(isUntrusted && system !== undefined ? ['system'] : []),
    ...(isUntrusted && (model || keepModel) ? ['model'] : []),
  ]
  if (widening.length === 0) return
  const isOfAgent = widening.every((name) => name === 'system' || name === 'model')
  throw new CrabError(
    'denied',
    `Cannot use ${widening.join(', ')}: the conversation of "${sender}" is ${DESCRIPTIONS[trust]}, and no option can give it more rights`,
    {
      hint: isOfAgent
        ? "leave it out: untrusted turns use the agent's own prompt and model"
        : `allow it under [permissions.${trust}] in config.toml or in the agent's file`,
    },
  )
}

const DESCRIPTIONS = { remote: 'untrusted', unattended: 'unattended' } as const

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
