import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { createFile, replaceFile } from '../base/files.ts'
import { didYouMean } from '../base/nearest.ts'
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

/** The error for an agent name that does not exist, with the nearest name as a hint. */
export function missingAgent(name: string, files: readonly IdentifiedFile[]): CrabError {
  const names = [...files.map((file) => file.name), DEFAULT_AGENT]
  const hint = didYouMean(name, names) ?? 'crabtalk agent list shows all agents'
  return new CrabError('missing', `Cannot find the agent "${name}"`, { hint })
}

/** The error for a prompt file that already exists at the target of an agent's prompt. `path` has no suffix. */
export function foreignPrompt(what: string, path: string): CrabError {
  return new CrabError('conflict', `${what}: another agent's prompt is at ${path}.md`, {
    hint: 'move that file away',
  })
}

/** The error for a name that another agent has. `what` says what cannot be done. */
export function takenName(what: string): CrabError {
  return new CrabError('conflict', `${what}: an agent of that name exists`, {
    hint: 'choose another name; upper and lower case count as the same',
  })
}
