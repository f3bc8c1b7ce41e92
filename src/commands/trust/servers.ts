import { resolve } from 'node:path'
import { confirm, declinedError } from '../../cli/ask/confirm.ts'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { toVisible } from '../../core/base/visible.ts'
import { locateServerFiles } from '../../edge/entries/locate-files.ts'
import type { UntrustedFile } from '../../edge/entries/server-trust.ts'
import { type FoundServers, findSessionServers } from '../../edge/entries/session-servers.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { answerServers } from './answer-servers.ts'
import {
  findProjectRoot,
  isTrustRecorded,
  listTrustedFoldersCommand,
  removeTrustedFolderCommand,
  requireDirectory,
} from './trust.ts'

/** Runs `crabtalk trust`: shows what the files of a project would run, and asks whether they may. */
export const trustServersCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (options.has('list')) return await listFiles(invocation)
  if (options.has('revoke')) return await revokeServers(invocation)
  await requireDirectory(options.args[0] ?? '.', host)
  const cwd = resolve(host.cwd(), options.args[0] ?? '.')
  const place = toSessionPlace(host, cwd)
  const found = await findSessionServers(place, openResolver(host))
  for (const { message, hint } of found.problems) {
    host.stderr.write(sanitize(`crabtalk: ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}\n`))
  }
  for (const file of found.untrusted) host.stdout.write(`${formatFile(file)}\n\n`)
  await host.stdout.flush() // the questions follow on the terminal
  const declined: string[] = []
  for (const file of found.untrusted) {
    const path = toVisible(file.path)
    const question = `Start the servers of ${path} in your conversations here?`
    const answer = await confirm(question, { options, host }, signal)
    if (answer === undefined) throw noTerminal(path)
    if (!answer) {
      declined.push(path)
      continue
    }
    await answerServers(host, { file, isTrusted: true }, signal)
    host.stdout.write(`trusted: ${path}\n`)
  }
  if (declined.length > 0) throw declinedError(`trust ${declined.join(' and ')}`)
  if (found.problems.some(({ file }) => file !== place.paths.userServers)) return ERROR_KINDS.config.exit
  if (found.untrusted.length === 0) printNothingToAsk(host, found)
  return 0
}

/** Lists as `crabtalk trust list` does. Throws `usage` for a directory or another option. */
async function listFiles(invocation: Parameters<CommandHandler>[0]): Promise<number> {
  const { options } = invocation
  if (options.args.length > 0 || options.has('yes') || options.has('revoke')) {
    throw new CrabError('usage', 'Cannot combine --list with a directory, --yes or --revoke', {
      hint: 'give only one',
    })
  }
  return await listTrustedFoldersCommand(invocation)
}

/** Stops trusting the files of a folder; records nothing about a folder that has none. */
async function revokeServers(invocation: Parameters<CommandHandler>[0]): Promise<number> {
  const { options, host } = invocation
  const directory = options.args[0] ?? '.'
  const root = await findProjectRoot(directory, host)
  if (root !== undefined && !(await isTrustRecorded(root, host))) {
    const { project } = await locateServerFiles(toSessionPlace(host, resolve(host.cwd(), directory)))
    if (project.length === 0) return printNoFile(host)
  }
  return await removeTrustedFolderCommand(invocation)
}

function noTerminal(path: string): CrabError {
  return new CrabError('denied', `Cannot trust ${path}: there is no terminal to ask for confirmation`, {
    hint: 'add --yes to do it without asking',
  })
}

function formatFile({ path, description }: UntrustedFile): string {
  return `${toVisible(path)}\n${description.map((line) => `  ${line}`.trimEnd()).join('\n')}`
}

function printNothingToAsk(host: Host, { servers }: FoundServers): void {
  const ofProject = servers.filter(({ server: { scope } }) => scope === 'project')
  const files = new Set(ofProject.map(({ server: { file } }) => file))
  for (const file of files) host.stdout.write(`${toVisible(`trusted: ${file}`)}\n`)
  if (files.size === 0) printNoFile(host)
}

function printNoFile(host: Host): number {
  host.stderr.write('No file of this project declares MCP servers\n')
  return 0
}
