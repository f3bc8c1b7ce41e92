import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEditor } from '../../cli/editor.ts'
import type { Host } from '../../cli/host.ts'

/**
 * Opens a text in the user's editor, which owns the terminal meanwhile, and returns the edited text;
 * undefined when it was not changed. Throws `failed` when the editor fails.
 */
export async function editText(text: string, host: Pick<Host, 'env'>): Promise<string | undefined> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crabtalk-'))
  const path = join(folder.path, 'message.md')
  await writeFile(path, text, { mode: 0o600 })
  await openEditor([path], host)
  const edited = await readFile(path, 'utf8')
  const newText = text.endsWith('\n') ? edited : edited.replace(/\n$/, '') // editors add a final line break
  return newText === text ? undefined : newText
}
