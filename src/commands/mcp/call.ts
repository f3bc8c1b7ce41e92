import { extname } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { openOutFile } from '../../cli/out-file.ts'
import { printJson } from '../../cli/print.ts'
import { openStatusLine } from '../../cli/progress.ts'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import {
  type Attachment,
  type DeepPartial,
  type McpAction,
  McpActionKind,
  type McpActionResult,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { attachServers } from './attach-servers.ts'
import { parseCallArguments } from './call-arguments.ts'
import { followCallProgress } from './call-progress.ts'
import { readAgentOption } from './change.ts'
import { readFileEntry } from './file-servers.ts'

/** Runs `crabtalk mcp call`; exits with the code of `tool` when the tool reports a failure. */
export const callToolCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', tool = '', ...words] = options.args
  const callArguments = await parseCallArguments(words, host)
  const outFile = options.value('out-file')
  await openOutFile(outFile, host) // fails before the call when the file can never be written
  await using attached = await attachServers(host, signal)
  const agent = readAgentOption(options)
  const entry = await readFileEntry(attached.dispatch, { agent, name, options, host }, signal)
  const message = {
    agent,
    name,
    entry,
    action: McpActionKind.CALL,
    tool,
    arguments: JSON.stringify(callArguments.args),
    words: callArguments.words,
  }
  const result = await callShown(attached.dispatch, { message, host }, signal)
  const isWritten = outFile !== undefined && (await writeResult(result, outFile, host))
  if (isWritten) announceLinks(host, name, result.output)
  if (options.has('json')) {
    printJson(host, toJson(name, tool, result))
    return result.isError ? ERROR_KINDS.tool.exit : 0
  }
  if (result.isError) throw toolError(name, tool, result.output)
  if (!isWritten) printToolText(host, result.output)
  if (outFile === undefined) for (const file of result.attachments) announceAttachment(host, file)
  return 0
}

/** Makes the call; a terminal shows meanwhile how far the server says it is. */
async function callShown(
  dispatch: Dispatch,
  {
    message,
    host,
  }: { message: DeepPartial<McpAction> & Record<'agent' | 'name' | 'tool', string>; host: Host },
  signal: AbortSignal,
): Promise<McpActionResult> {
  const { name, tool, agent } = message
  using line = openStatusLine(host)
  const over = new AbortController()
  const what = `calling ${tool} of ${name}`
  line.show(what)
  const report = (text: string) => line.update(`${what}: ${text}`)
  const either = AbortSignal.any([signal, over.signal])
  const following = line.isPossible ? followCallProgress(dispatch, { agent, report }, either) : undefined
  try {
    return await request(dispatch, 'mcpAction', message, signal)
  } finally {
    over.abort()
    await following
  }
}

/**
 * Writes the images and files of a result, or its text if it has none; returns whether it wrote the
 * text.
 */
export async function writeResult(
  { attachments, output, isError }: McpActionResult,
  name: string,
  host: Host,
): Promise<boolean> {
  if (isError) return false
  for (const [i, { data }] of attachments.entries())
    await (await openOutFile(numberName(name, i), host))?.(data)
  if (attachments.length > 0) return false
  await (await openOutFile(name, host))?.(withNewline(output))
  return true
}

/** Returns `shot.png`, `shot-2.png` and so on. */
function numberName(name: string, index: number): string {
  const suffix = extname(name)
  return index === 0 ? name : `${name.slice(0, name.length - suffix.length)}-${index + 1}${suffix}`
}

/** Prints the text of a result, sanitized on a terminal, and ends its last line. */
export function printToolText(host: Host, output: string): void {
  const text = withNewline(output)
  host.stdout.write(host.stdout.isTerminal ? sanitize(text) : text)
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** Warns on standard error that the file holds a link instead of what the result links to. */
function announceLinks(host: Host, server: string, output: string): void {
  for (const [, uri = ''] of output.matchAll(/^\[link to (\S+?)(?:\]|: .*\])$/gm)) {
    const shown = sanitize(uri)
    host.stderr.write(
      `crabtalk: the result is a link; read it with crabtalk mcp read -O FILE ${server} ${shown}\n`,
    )
  }
}

/** Mentions on standard error that a result has a file, too. */
export function announceAttachment(host: Host, { mediaType, name, data }: Attachment): void {
  const what = sanitize([name, mediaType].filter(Boolean).join(', '))
  host.stderr.write(`crabtalk: ${what}, ${data.length} bytes; save it with -O FILE\n`)
}

function toolError(server: string, tool: string, output: string): CrabError {
  return new CrabError(
    'tool',
    `Cannot call ${tool} of "${server}": ${sanitize(output).trim() || 'it failed'}`,
    isAboutArguments(output)
      ? { hint: 'arguments are JSON where they can be: see crabtalk mcp call --help' }
      : {},
  )
}

/** Whether an error is about arguments that do not match the schema, as servers and their libraries word it. */
function isAboutArguments(output: string): boolean {
  return /-32602|invalid (arguments?|params|input)|validation|expected .* received/i.test(output)
}

function toJson(server: string, tool: string, { output, isError, durationMs, attachments }: McpActionResult) {
  return {
    server,
    tool,
    ok: !isError,
    output,
    attachments: attachments.map(({ mediaType, name, data }) => ({
      media_type: mediaType,
      name: name || null,
      data: Buffer.from(data).toString('base64'),
    })),
    duration_ms: durationMs,
  }
}
