import { resolve } from 'node:path'
import { requireConsent } from '../../cli/ask/confirm.ts'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { toVisible } from '../../core/base/visible.ts'
import type { UntrustedFile } from '../../edge/entries/server-trust.ts'
import { findSessionServers } from '../../edge/entries/session-servers.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { answerServers } from './answer-servers.ts'
import { removeTrustedFolderCommand, requireDirectory } from './trust.ts'

/** Runs `crabtalk trust`: shows what the files of a project would run, and asks whether they may. */
export const trustServersCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (options.has('revoke')) return await removeTrustedFolderCommand(invocation)
  await requireDirectory(options.args[0] ?? '.', host)
  const cwd = resolve(host.cwd(), options.args[0] ?? '.')
  const found = await findSessionServers(toSessionPlace(host, cwd), openResolver(host))
  for (const { message, hint } of found.problems) {
    host.stderr.write(sanitize(`crabtalk: ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}\n`))
  }
  for (const file of found.untrusted) host.stdout.write(`${formatFile(file)}\n\n`)
  await host.stdout.flush() // the questions follow on the terminal
  for (const file of found.untrusted) {
    const task = `trust ${toVisible(file.path)}`
    await requireConsent(
      `Start the servers of ${toVisible(file.path)} in your conversations here?`,
      { task, options, host },
      signal,
    )
    await answerServers(host, { file, isTrusted: true }, signal)
    host.stdout.write(`${toVisible(`trusted: ${file.path}`)}\n`)
  }
  if (found.untrusted.length === 0)
    printNothingToAsk(
      host,
      found.servers.map(({ server }) => server),
    )
  return 0
}

function formatFile({ path, description }: UntrustedFile): string {
  return `${toVisible(path)}\n${description.map((line) => `  ${line}`.trimEnd()).join('\n')}`
}

function printNothingToAsk(host: Host, servers: readonly { file: string; scope: string }[]): void {
  const files = new Set(servers.filter(({ scope }) => scope === 'project').map(({ file }) => file))
  for (const file of files) host.stdout.write(`${toVisible(`trusted: ${file}`)}\n`)
  if (files.size === 0) host.stderr.write('No file of this project declares MCP servers\n')
}
