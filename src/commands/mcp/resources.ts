import type { CommandHandler } from '../../cli/command.ts'
import { openOutFile } from '../../cli/out-file.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { askServers, type ServerAnswer } from './ask-servers.ts'
import { attachServers } from './attach-servers.ts'
import { announceAttachment, printToolText, writeResult } from './call.ts'
import { readAgentOption } from './change.ts'

/** Runs `crabtalk mcp resources`. */
export const listResourcesCommand: CommandHandler = async (invocation) => {
  const { options, host } = invocation
  const what = { action: McpActionKind.RESOURCES, doing: 'listing resources' }
  const { answers, exitCode } = await askServers(invocation, what)
  const found = answers.flatMap(toResources)
  if (options.has('json')) {
    printJson(host, found)
    return exitCode
  }
  const isOne = options.args.length > 0
  const rows = found.map(({ server, uri, uri_template: template, name, mime_type: type, description }) => [
    ...(isOne ? [] : [server]),
    ...[uri ?? template ?? '', name, type ?? '-', description],
  ])
  if (rows.length > 0)
    await printTable(host, [...(isOne ? [] : ['SERVER']), 'URI', 'NAME', 'TYPE', 'DESCRIPTION'], rows)
  else if (exitCode === 0) host.stderr.write('No resources\n')
  return exitCode
}

function toResources({ server, result }: ServerAnswer) {
  return [
    ...result.resources.map(({ uri, mimeType, size, ...words }) => ({
      ...{ server, uri, uri_template: null, ...words, mime_type: mimeType || null, size: size ?? null },
    })),
    ...result.resourceTemplates.map(({ uriTemplate, mimeType, ...words }) => ({
      ...{ server, uri: null, uri_template: uriTemplate, ...words, mime_type: mimeType || null, size: null },
    })),
  ]
}

/** Runs `crabtalk mcp read`. */
export const readResourceCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', uri = ''] = options.args
  const outFile = options.value('out-file')
  await openOutFile(outFile, host) // fails before the request when the file can never be written
  await using attached = await attachServers(host, signal)
  const message = { agent: readAgentOption(options), name, action: McpActionKind.READ_RESOURCE, uri }
  const reading = request(attached.dispatch, 'mcpAction', message, signal)
  const result = await withProgress(host, `reading ${uri} of ${name}`, reading)
  const isWritten = outFile !== undefined && (await writeResult(result, outFile, host))
  if (options.has('json')) {
    const attachments = result.attachments.map(({ mediaType, name, data }) => ({
      ...{ media_type: mediaType, name: name || null, data: Buffer.from(data).toString('base64') },
    }))
    printJson(host, { server: name, uri, output: result.output, attachments })
    return 0
  }
  if (!isWritten) printToolText(host, result.output)
  if (outFile === undefined) for (const file of result.attachments) announceAttachment(host, file)
  return 0
}
