import { createFile } from '../core/base/files.ts'

/**
 * Keeps a text that could not be saved beside the file that it was meant for: in `one.toml.rejected`, or
 * `one.toml.rejected-2` if that exists. Returns its path.
 */
export async function keepRejected(path: string, text: string): Promise<string> {
  for (let number = 1; ; number++) {
    const beside = `${path}.rejected${number === 1 ? '' : `-${number}`}`
    if (await createFile(beside, text)) return beside
  }
}
