import type { CommandHandler } from '../../cli/command.ts'
import { findConversation } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { sanitize, sanitizeLine } from '../../core/base/sanitize.ts'
import { FileChange, type SessionDiff } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { FILE_CHANGE_WORDS } from '../../core/protocol/file-change-words.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk conversation diff`. */
export const diffCommand: CommandHandler = async ({ options, host, signal }) => {
  const stat = options.has('stat')
  await using attached = await attach(host)
  const { filePath: session } = await findConversation(attached.dispatch, options.args[0], signal)
  const found = await request(attached.dispatch, 'sessionDiff', { session, stat }, signal)
  if (options.has('json')) return printJson(host, toJson(found))
  if (found.files.length === 0) host.stderr.write('This conversation changed no files with edit or write\n')
  else if (stat) await printStat(host, found)
  else await printDiffs(host, found)
  for (const call of found.untracked)
    host.stderr.write(`may have changed more files: ${sanitizeLine(call)}\n`)
  return 0
}

async function printStat(host: Host, { files }: SessionDiff): Promise<void> {
  const rows = files.map(({ change, added, removed, path }) => {
    return [FILE_CHANGE_WORDS[change], `+${added}`, `-${removed}`, path]
  })
  await printTable(host, ['CHANGE', 'ADDED', 'REMOVED', 'FILE'], rows)
}

async function printDiffs(host: Host, { files }: SessionDiff): Promise<void> {
  for (const { change, path, diff, reason } of files) {
    if (change === FileChange.NONE) continue
    const note = `# ${FILE_CHANGE_WORDS[change]}: ${path}: ${reason}\n`
    await host.stdout.write(host.stdout.isTerminal ? sanitize(diff || note) : diff || note)
  }
}

function toJson({ files, untracked }: SessionDiff) {
  const rows = files.map(({ path, change, added, removed, diff, reason }) => {
    return { path, change: FILE_CHANGE_WORDS[change], added, removed, diff, reason }
  })
  return { files: rows, untracked }
}
