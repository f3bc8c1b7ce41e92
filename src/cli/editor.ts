import { CrabError } from '../core/base/errors.ts'
import { runForeground } from '../core/process/foreground.ts'
import type { Host } from './host.ts'

/**
 * Opens files on this terminal in $VISUAL or $EDITOR (which may contain arguments, as git and crontab allow),
 * else in vi, and waits until it exits. Throws `failed` when the editor fails.
 */
export async function openEditor(files: readonly string[], host: Pick<Host, 'env'>): Promise<void> {
  const editor = host.env['VISUAL'] || host.env['EDITOR'] || 'vi'
  const code = await runForeground(['sh', '-c', `${editor} "$@"`, 'editor', ...files], host.env)
  if (code === 0) return
  throw new CrabError('failed', `Cannot edit: ${editor} exited with ${code}`, {
    hint: 'set EDITOR to an editor that is installed',
  })
}
