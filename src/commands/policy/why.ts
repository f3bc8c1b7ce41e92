import { resolve } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import { readMode } from '../../cli/permission-settings.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { PolicyDecision, PolicyRule } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { ruleEffectName, toJsonRule } from '../mcp/rows.ts'

/** Runs `crabtalk policy why`. */
export const explainPolicyCommand: CommandHandler = async ({ options, host, signal }) => {
  const { tool, args } = readPolicyCall(options.args[0] ?? '')
  const message = {
    agent: options.value('agent') ?? '',
    sender: options.value('sender') ?? '',
    cwd: resolve(host.cwd(), options.value('cwd') ?? '.'),
    tool,
    arguments: JSON.stringify(args),
    allow: [...options.values('allow')],
    deny: [...options.values('deny')],
    ask: [...options.values('ask')],
    mode: readMode(options),
    roots: options.values('add-dir').map((path) => resolve(host.cwd(), path)),
  }
  await using attached = await attach(host)
  const decision = await request(attached.dispatch, 'policyExplain', message, signal)
  if (options.has('json')) return printJson(host, toJson(decision))
  const text = toLines(decision)
    .map(([name, value]) => `${name.padEnd(WIDTH)}  ${value}\n`)
    .join('')
  host.stdout.write(host.stdout.isTerminal ? sanitize(text) : text)
  return 0
}

function toLines({
  effect,
  reason,
  action,
  trust,
  rule,
  matched,
  suggestions,
  builtIn,
  warnings,
}: PolicyDecision): [string, string][] {
  const others = matched.filter((one) => !isSame(one, rule))
  const place = trust === 'local' ? '' : ` in [permissions.${trust}]`
  return [
    ['effect', ruleEffectName(effect)],
    ['why', reason],
    ['call', action],
    ['class', trust],
    ['rule', rule ? toText(rule) : builtIn === '' ? 'no rule matches' : `built in: ${builtIn}`],
    ...others.map((one): [string, string] => ['also', toText(one)]),
    ...suggestions.map((one): [string, string] => ['to allow', `${one}${place}`]),
    ...warnings.map((one): [string, string] => ['risk', one]),
  ]
}

function toText({ effect, pattern, source }: PolicyRule): string {
  return `${ruleEffectName(effect)} ${pattern} (${source})`
}

function isSame(a: PolicyRule, b: PolicyRule | undefined): boolean {
  return a.effect === b?.effect && a.pattern === b.pattern && a.source === b.source
}

function toJson(decision: PolicyDecision) {
  const { effect, reason, action, trust, rule, matched, suggestions, builtIn, warnings } = decision
  return {
    effect: ruleEffectName(effect),
    reason,
    action,
    trust,
    rule: rule ? toJsonRule(rule) : null,
    matched: matched.map(toJsonRule),
    suggestions,
    built_in: builtIn === '' ? null : builtIn,
    warnings,
  }
}

const WIDTH = 'to allow'.length + 1

/** A tool call that a person wrote, converted to what a model would send. */
export interface PolicyCall {
  tool: string
  args: JsonObject
}

/**
 * Parses `bash(rm -rf build)`, `read(notes.txt)`, `mcp__fs__write_file({"path":"x"})` or a name alone.
 *
 * The parentheses contain the command, the path, or the arguments as a JSON object. Throws `usage`.
 */
export function readPolicyCall(text: string): PolicyCall {
  const [, tool = '', inside] = /^\s*([^\s()]+)(?:\((.*)\))?\s*$/s.exec(text) ?? []
  if (tool === '')
    throw unreadable(text, 'it is not a tool name, alone or followed by something in parentheses')
  const args = inside === undefined || inside.trim() === '' ? {} : parseObject(inside)
  if (args) return { tool, args: requireMainArgument(text, tool, args) }
  const key = MAIN_ARGUMENT.get(tool)
  if (key === undefined) throw unreadable(text, `${tool} takes a JSON object`)
  return { tool, args: { [key]: inside } }
}

/** Throws `usage` when the command or file, on which the decision depends, is missing. */
function requireMainArgument(text: string, tool: string, args: JsonObject): JsonObject {
  const key = MAIN_ARGUMENT.get(tool)
  if (key === undefined || OPTIONAL.has(tool) || Object.hasOwn(args, key)) return args
  throw unreadable(text, `${tool} needs a ${key}`)
}

function unreadable(text: string, why: string): CrabError {
  return new CrabError('usage', `Cannot read the call ${text}: ${why}`, {
    hint: "for example 'bash(npm test)', 'edit(src/a.ts)' or 'mcp__fs__read_file'",
  })
}

/** The argument that may stand alone in the parentheses. */
const MAIN_ARGUMENT: ReadonlyMap<string, string> = new Map([
  ['bash', 'command'],
  ['read', 'path'],
  ['edit', 'path'],
  ['write', 'path'],
  ['glob', 'path'],
  ['grep', 'path'],
])

/** The tools that use the working directory when no path is given. */
const OPTIONAL: ReadonlySet<string> = new Set(['glob', 'grep'])
