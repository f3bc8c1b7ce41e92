import { nearest } from '../../core/base/nearest.ts'
import { wrapInTag } from '../../core/base/wrap-text.ts'
import {
  McpActionKind,
  type McpPrompt,
  type McpPromptMessage,
} from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { withReturned } from '../text/prompt-state.ts'
import { printNotice, printTitled } from './print.ts'
import type { SlashContext } from './types.ts'

/** A prompt of a server as typed: `/server:prompt …`. */
export interface ServerPromptCommand {
  server: string
  prompt: string
  /** The text after the name. */
  rest: string
}

/** Parses `/server:prompt` and the text after it; undefined for anything else. */
export function readPromptCommand(line: string): ServerPromptCommand | undefined {
  const found = /^\/([a-z0-9][a-z0-9_-]{0,31}):(\S+)\s*(.*)$/s.exec(line.trim())
  return found ? { server: found[1]!, prompt: found[2]!, rest: found[3]!.trim() } : undefined
}

/**
 * Fills in a prompt of a server, prints it, and sends it as the user's message. When a required argument is
 * missing, the line returns to the prompt so that the user can add it. An unknown prompt is reported here.
 * Throws the error of a request that fails.
 */
export async function runServerPrompt(
  { server, prompt: name, rest }: ServerPromptCommand,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const at = { agent: context.state().agent, name: server }
  const { prompts } = await request(
    context.dispatch,
    'mcpAction',
    { ...at, action: McpActionKind.PROMPTS },
    signal,
  )
  const prompt = prompts.find((one) => one.name === name)
  if (!prompt)
    return printNotice(
      context,
      'warning',
      `"${server}" has no prompt ${name}`,
      adviceFor(name, server, prompts),
    )
  const { args, problem } = readPromptArguments(rest, prompt.arguments)
  if (problem !== undefined)
    return printNotice(context, 'warning', `/${server}:${name}: ${problem}`, formatUsage(prompt))
  const missing = prompt.arguments.filter((blank) => blank.required && args[blank.name] === undefined)
  if (missing.length > 0) return promptForMissing(missing, { server, name, rest }, context)
  const message = { ...at, action: McpActionKind.GET_PROMPT, tool: name, arguments: JSON.stringify(args) }
  const { promptMessages } = await request(context.dispatch, 'mcpAction', message, signal)
  const text = toText(promptMessages)
  printTitled(context, `${name} of ${server}`, text)
  context.send(`/${server}:${name}${rest === '' ? '' : ` ${rest}`}`, {
    content: wrapInTag('prompt', { server, name: name.replaceAll(/["<>]/g, '') }, text),
    attachments: promptMessages.flatMap(({ attachments }) => attachments),
    problems: [],
  })
}

/** Joins the messages; when any is not from the user, each is labeled with its role. */
function toText(messages: readonly McpPromptMessage[]): string {
  const isOne = messages.every(({ role }) => role === 'user')
  return messages.map(({ role, content }) => (isOne ? content : `[${role}]\n${content}`)).join('\n\n')
}

function promptForMissing(
  missing: McpPrompt['arguments'],
  { server, name, rest }: { server: string; name: string; rest: string },
  context: SlashContext,
): void {
  const about = missing.map((blank) =>
    blank.description === '' ? blank.name : `${blank.name}: ${blank.description}`,
  )
  printNotice(
    context,
    'info',
    `/${server}:${name} needs a value for ${about.join('; ')}`,
    'fill it in and press Enter',
  )
  const [first] = missing
  const line = `/${server}:${name} ${rest === '' ? '' : `${rest} `}${first!.name}=`
  const { prompt } = context.state()
  if (prompt.text === '') context.act({ type: 'set', change: { prompt: withReturned(prompt, [line]) } })
}

function formatUsage({ arguments: blanks }: McpPrompt): string {
  if (blanks.length === 0) return 'it takes no arguments'
  return `it takes ${blanks.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(' ')}`
}

function adviceFor(name: string, server: string, prompts: readonly McpPrompt[]): string {
  const names = prompts.map((prompt) => prompt.name)
  if (names.length === 0) return 'it has none'
  const suggestion = nearest(name, names)
  return suggestion === undefined
    ? `it has ${names.slice(0, 10).join(', ')}`
    : `did you mean /${server}:${suggestion}?`
}

/** The parsed arguments of a prompt. `problem` is a clause that describes invalid input. */
interface PromptArguments {
  args: Record<string, string>
  problem?: string
}

/**
 * Parses the text after a prompt's name: `name=value` words, with quotes around values that contain spaces.
 * Words without a name fill the remaining arguments in order, and the last one takes the rest of the text.
 */
export function readPromptArguments(text: string, blanks: readonly { name: string }[]): PromptArguments {
  const args: Record<string, string> = {}
  const known = new Set(blanks.map(({ name }) => name))
  let rest = text.trim()
  while (rest !== '') {
    const named = NAMED.exec(rest)
    if (named && known.has(named[1]!)) {
      args[named[1]!] = unquoted(named[2]!)
      rest = rest.slice(named[0].length).trimStart()
      continue
    }
    const [next, ...more] = blanks.filter(({ name }) => !Object.hasOwn(args, name))
    if (!next) return { args, problem: `"${rest}" is not expected` }
    const [word] = WORD.exec(rest)!
    args[next.name] = unquoted(more.length === 0 ? untilNamed(rest, known) : word)
    rest = rest.slice(more.length === 0 ? untilNamed(rest, known).length : word.length).trimStart()
  }
  return { args }
}

/** Returns the text up to the next word that names an argument. */
function untilNamed(text: string, known: ReadonlySet<string>): string {
  for (const { index, 1: name } of text.matchAll(/(?<=\s)([^\s=]+)=/g)) {
    if (known.has(name!)) return text.slice(0, index).trimEnd()
  }
  return text
}

function unquoted(text: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"$/s.exec(text) ?? []
  return inner === undefined ? text : inner.replaceAll(/\\(["\\])/g, '$1')
}

const WORD = /^(?:"(?:[^"\\]|\\.)*"|\S+)/s
const NAMED = /^([^\s=]+)=("(?:[^"\\]|\\.)*"(?=\s|$)|\S*)/s
