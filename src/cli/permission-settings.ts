import { CrabError } from '../core/base/errors.ts'
import { ApprovalMode, OnAsk } from '../core/protocol/crabtalk.generated.ts'
import type { ParsedOptions } from './command.ts'
import type { Host } from './host.ts'

/** The permissions of a run, and who is asked about everything else. */
export interface PermissionSettings {
  /** The permission rules, validated. */
  allow: readonly string[]
  ask: readonly string[]
  deny: readonly string[]
  mode: ApprovalMode
  /**
   * `terminal`: the user at the terminal; `client`: the program that writes the records; `park`: the first
   * user to answer in any client.
   */
  onAsk: 'terminal' | 'client' | 'deny' | 'fail' | 'park'
}

/** Reads --allow, --ask, --deny, --yolo and --on-ask. Throws `usage`. */
export async function readPermissionSettings(
  options: ParsedOptions,
  host: Host,
): Promise<PermissionSettings> {
  if (options.has('yolo') && options.has('ask')) {
    throw new CrabError('usage', 'Cannot combine --yolo and --ask: --yolo never asks', {
      hint: "use --allow '*' instead of --yolo",
    })
  }
  return {
    allow: await readRules('allow', options),
    ask: await readRules('ask', options),
    deny: await readRules('deny', options),
    mode: readMode(options),
    onAsk: readOnAsk(options, host),
  }
}

/** Reads --mode and --yolo. Throws `usage` when they contradict each other. */
export function readMode(options: ParsedOptions): ApprovalMode {
  const name = options.value('mode')
  if (options.has('yolo') && name !== undefined && name !== 'all') {
    throw new CrabError('usage', `Cannot combine --yolo and --mode ${name}: --yolo means --mode all`)
  }
  return MODES.get(options.has('yolo') ? 'all' : (name ?? '')) ?? ApprovalMode.UNSPECIFIED
}

const MODES: ReadonlyMap<string, ApprovalMode> = new Map([
  ['ask', ApprovalMode.ASK],
  ['edits', ApprovalMode.EDITS],
  ['plan', ApprovalMode.PLAN],
  ['read-only', ApprovalMode.READ_ONLY],
  ['all', ApprovalMode.ALL],
])

/** Converts the setting to its wire form, in which the terminal is part of this client. */
export function toOnAsk(onAsk: PermissionSettings['onAsk']): OnAsk {
  return ON_ASK[onAsk]
}

const ON_ASK: Readonly<Record<PermissionSettings['onAsk'], OnAsk>> = {
  terminal: OnAsk.CLIENT,
  client: OnAsk.CLIENT,
  deny: OnAsk.DENY,
  fail: OnAsk.FAIL,
  park: OnAsk.PARK,
}

async function readRules(
  option: 'allow' | 'ask' | 'deny',
  options: ParsedOptions,
): Promise<readonly string[]> {
  const rules = options.values(option)
  if (rules.length === 0) return rules
  const { readRule } = await import('../core/config/rule-syntax.ts')
  for (const rule of rules) {
    const reading = readRule(rule)
    if (reading.ok) continue
    const { predicate, example } = reading.problem
    throw new CrabError('usage', `Cannot use --${option} ${JSON.stringify(rule)}: it ${predicate}`, {
      hint: `for example --${option} '${example}'`,
    })
  }
  return rules
}

/** Reads --on-ask. A detached turn does not ask on this terminal: its questions are in the inbox (ADR 0109). */
function readOnAsk(options: ParsedOptions, host: Host): PermissionSettings['onAsk'] {
  const onAskOption = options.value('on-ask')
  const isDetached = options.has('detach')
  if (onAskOption === undefined) return ifAttended(isDetached ? 'park' : 'terminal', host)
  if (isDetached && (onAskOption === 'tty' || onAskOption === 'client')) {
    throw new CrabError('usage', `Cannot combine --detach and --on-ask ${onAskOption}: this process exits`, {
      hint: 'use --on-ask park, deny or fail',
    })
  }
  switch (onAskOption) {
    case 'tty':
      if (hasTerminal(host)) return 'terminal'
      throw new CrabError('usage', 'Cannot ask on the terminal: this process has none', {
        hint: 'allow what is needed with --allow, or use --on-ask deny',
      })
    case 'client':
      return readClient(options)
    case 'park':
    case 'deny':
    case 'fail':
      return onAskOption
    default:
      throw new CrabError('usage', `Cannot use --on-ask ${onAskOption}`, {
        hint: 'choose one of tty, deny, fail, park and client',
      })
  }
}

function ifAttended(onAsk: 'terminal' | 'park', host: Host): PermissionSettings['onAsk'] {
  return isAttended(host) && (onAsk === 'park' || hasTerminal(host)) ? onAsk : 'deny'
}

function readClient(options: ParsedOptions): 'client' {
  if (options.value('input') === 'stream-json') return 'client'
  throw new CrabError('usage', 'Cannot ask the client: --on-ask client requires --input stream-json', {
    hint: 'use --on-ask tty, deny or fail',
  })
}

/** Whether a user seems to be present; that a terminal exists behind a service's pipes does not show that. */
function isAttended({ stderr, stdinKind }: Host): boolean {
  return stderr.isTerminal || stdinKind() === 'terminal'
}

function hasTerminal(host: Host): boolean {
  using terminal = host.terminal()
  return terminal !== undefined
}
