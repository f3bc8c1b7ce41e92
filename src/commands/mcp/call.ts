import { extname } from 'node:path'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import {
  type Attachment,
  McpActionKind,
  type McpActionResult,
} from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { CommandHandler } from '../command.ts'
import type { Host } from '../host.ts'
import { openOutFile } from '../out-file.ts'
import { printJson } from '../print.ts'
import { withProgress } from '../progress.ts'
import { attachServers } from './attach-servers.ts'
import { parseCallArguments } from './call-arguments.ts'
import { readAgentOption } from './change.ts'

export const callToolCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', tool = '', ...words] = options.args
  const given = await parseCallArguments(words, host)
  const outFile = options.value('out-file')
  await openOutFile(outFile, host) // a name that can never be written is told before anything is done
  await using attached = await attachServers(host, signal)
  const message = {
    agent: readAgentOption(options),
    name,
    action: McpActionKind.CALL,
    tool,
    arguments: JSON.stringify(given.args),
    words: given.words,
  }
  const calling = request(attached.dispatch, 'mcpAction', message, signal)
  const result = await withProgress(host, `calling ${tool} of ${name}`, calling)
  const isWritten = outFile !== undefined && (await writeResult(result, outFile, host))
  if (isWritten) announceLinks(host, name, result.output)
  if (options.has('json')) {
    printJson(host, toJson(name, tool, result))
    return result.isError ? ERROR_KINDS.tool.exit : 0
  }
  if (result.isError) throw failed(name, tool, result.output)
  if (!isWritten) printToolText(host, result.output)
  if (outFile === undefined) for (const file of result.attachments) announceAttachment(host, file)
  return 0
}

/** Writes the images and files of a result, or its text when there are none; says whether it was the text. */
export async function writeResult(
  { attachments, output, isError }: McpActionResult,
  name: string,
  host: Host,
): Promise<boolean> {
  if (isError) return false
  for (const [i, { data }] of attachments.entries())
    await (await openOutFile(numbered(name, i), host))?.(data)
  if (attachments.length > 0) return false
  await (await openOutFile(name, host))?.(withNewline(output))
  return true
}

/** `shot.png`, `shot-2.png`, … */
function numbered(name: string, index: number): string {
  const suffix = extname(name)
  return index === 0 ? name : `${name.slice(0, name.length - suffix.length)}-${index + 1}${suffix}`
}

/** Prints the text of a result, harmless on a terminal; its last line ends. */
export function printToolText(host: Host, output: string): void {
  const text = withNewline(output)
  host.stdout.write(host.stdout.isTerminal ? sanitize(text) : text)
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** Says on standard error that what was written is not what a result links to. */
function announceLinks(host: Host, server: string, output: string): void {
  for (const [, uri = ''] of output.matchAll(/^\[link to (\S+?)(?:\]|: .*\])$/gm)) {
    const shown = sanitize(uri)
    host.stderr.write(
      `crabtalk: the result is a link: crabtalk mcp read -O FILE ${server} ${shown} reads it\n`,
    )
  }
}

/** Says on standard error that a result has a file, too. */
export function announceAttachment(host: Host, { mediaType, name, data }: Attachment): void {
  const what = sanitize([name, mediaType].filter(Boolean).join(', '))
  host.stderr.write(`crabtalk: ${what}, ${data.length} bytes; -O FILE keeps it\n`)
}

function failed(server: string, tool: string, output: string): CrabError {
  return new CrabError(
    'tool',
    `Cannot call ${tool} of "${server}": ${sanitize(output).trim() || 'it failed'}`,
    isAboutArguments(output)
      ? { hint: 'arguments are JSON where they can be: see crabtalk mcp call --help' }
      : {},
  )
}

/** What servers and their libraries say of arguments that are not what the schema says. */
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
