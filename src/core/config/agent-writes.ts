import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, replaceFile } from '../base/files.ts'
import type { IdentifiedFile } from './agent-files.ts'
import { newAgentId } from './agent-id.ts'
import { checkAgent } from './agent-schema.ts'
import { DEFAULT_DESCRIPTION, DEFAULT_PROMPT } from './default-agent.ts'
import { DEFAULT_AGENT } from './default-name.ts'
import { editToml } from './toml-edit.ts'
import { renderToml } from './toml-render.ts'

/** Creates the files of the default agent unless they exist. */
export async function createDefault(folder: string): Promise<void> {
  const path = join(folder, DEFAULT_AGENT)
  await createFile(`${path}.md`, toPromptFile(DEFAULT_PROMPT))
  const table = { id: newAgentId(DEFAULT_AGENT), description: DEFAULT_DESCRIPTION }
  await createFile(`${path}.toml`, renderToml(table))
}

/** Whether a valid agent file does not state its id. */
export function lacksId({ isNewId, document }: IdentifiedFile): boolean {
  return isNewId && document.ok && checkAgent(document.value.table).ok
}

/** Writes the id into the file. A link to another agent's file is replaced by a regular file. */
export async function writeId({ document, path, id }: IdentifiedFile): Promise<void> {
  if (!document.ok) return
  const { text, table } = document.value
  const isCopy = 'id' in table
  await replaceFile(isCopy ? path : await realpath(path), editToml(text, table, { ...table, id }))
}

/** Replaces a file, or the target of a link. */
export async function replaceLinked(path: string, content: string): Promise<void> {
  // When the file does not exist yet, replaceFile() creates it or reports why it cannot.
  const target = await realpath(path).catch(() => path)
  await replaceFile(target, content)
}

/** Returns a prompt as file content, with one trailing newline, which readPrompt() removes. */
export function toPromptFile(prompt: string): string {
  return `${prompt}\n`
}
