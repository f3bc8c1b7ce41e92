import { CrabError } from '../core/base/errors.ts'
import { runForeground } from '../core/process/foreground.ts'
import type { Host } from './host.ts'

/**
 * Opens files on this terminal in $VISUAL or $EDITOR (which may contain arguments, as git and crontab allow),
 * else in vi, and waits until it exits. Throws `failed` when the editor fails.
 */
export async function openEditor(files: readonly string[], host: Pick<Host, 'env'>): Promise<void> {
  const editor = host.env['VISUAL'] || host.env['EDITOR'] || 'vi'
  const [program = ''] = editor.trim().split(/\s+/)
  const check = isPlainWord(program) ? `command -v ${program} >/dev/null 2>&1 || exit ${NOT_FOUND}\n` : ''
  const code = await runForeground(['sh', '-c', `${check}${editor} "$@"`, 'editor', ...files], host.env)
  if (code === 0) return
  if (code === NOT_FOUND) throw notFoundError(editor, program, host)
  throw new CrabError('failed', `Cannot edit: ${editor} exited with ${code}`, {
    hint: 'set EDITOR to an editor that is installed',
  })
}

function notFoundError(editor: string, program: string, { env }: Pick<Host, 'env'>): CrabError {
  const name = isPlainWord(program) ? program : editor
  return new CrabError('failed', `Cannot edit: the editor ${name} was not found`, {
    hint: `set ${env['VISUAL'] ? 'VISUAL' : 'EDITOR'} to an editor that is installed`,
  })
}

/** Whether the shell takes a word as it stands, without quotes, variables or functions. */
function isPlainWord(word: string): boolean {
  return /^[\w./+-]+$/.test(word)
}

/** The exit code of a shell for a program that does not exist. */
const NOT_FOUND = 127
