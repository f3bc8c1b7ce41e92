import { pluralize } from '../../core/base/format.ts'
import { FileChange, type FileDiff, type SessionDiff } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { FILE_CHANGE_WORDS } from '../../core/protocol/file-change-words.ts'
import type { Block } from '../view/blocks.ts'
import { printNotice } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/diff`: shows what the conversation changed, file by file. */
export async function slashDiff(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session } = context.state()
  const found = session && (await request(context.dispatch, 'sessionDiff', { session }, signal))
  if (!found || (found.files.length === 0 && found.untracked.length === 0))
    return printNotice(context, 'info', 'This conversation changed no files')
  await context.showBlocks('Changes of this conversation', toBlocks(found, context.ports.cwd))
}

/** Converts a diff to blocks: the list of files, then one block for each. */
function toBlocks({ files, untracked }: SessionDiff, cwd: string): Block[] {
  const changed = files.filter(({ change }) => change !== FileChange.NONE)
  const rows = files.map((file) => [FILE_CHANGE_WORDS[file.change], counts(file), shorten(file.path, cwd)])
  const title = `${pluralize(changed.length, 'file')} changed · ${totals(changed)}`
  const list: Block = { kind: 'output', title, rows }
  const unknown: Block = {
    kind: 'output',
    title: 'These may have changed more files, which are not tracked:',
    text: untracked.map((call) => `  ${call}`).join('\n'),
  }
  return [
    list,
    ...(untracked.length > 0 ? [unknown] : []),
    ...changed.map(
      (file): Block => ({ kind: 'file-diff', file: { ...file, path: shorten(file.path, cwd) } }),
    ),
  ]
}

function counts({ added, removed }: FileDiff): string {
  return `+${added} −${removed}`
}

function totals(files: readonly FileDiff[]): string {
  const sum = (key: 'added' | 'removed') => files.reduce((all, file) => all + file[key], 0)
  return `+${sum('added')} −${sum('removed')}`
}

/** Shows a path in the working directory relative to it. */
function shorten(path: string, cwd: string): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path
}
