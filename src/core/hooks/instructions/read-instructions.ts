import { join } from 'node:path'
import { takeStart } from '../../base/truncate.ts'
import { type OwnedFileAccess, RefusedFile, readOwnedFile } from '../read-owned-file.ts'

/** An existing instruction file. */
export interface InstructionFile {
  /** Absolute. */
  path: string
  /** Its text, trimmed and without hidden characters; undefined when the file is refused. */
  text: string | undefined
  /** A warning for the user, as the end of a sentence; undefined when there is none. */
  warning: string | undefined
}

/**
 * Reads the instruction files of one folder, in the order of INSTRUCTION_NAMES, up to the first that has text.
 */
export async function readFolder(
  folder: string,
  access: Omit<OwnedFileAccess, 'linkTargets'>,
): Promise<InstructionFile[]> {
  const files: InstructionFile[] = []
  for (const name of INSTRUCTION_NAMES) {
    const file = await readInstructions(join(folder, name), access)
    if (file) files.push(file)
    if (file?.text !== undefined) break
  }
  return files
}

/** Reads one instruction file; undefined when it is missing or blank. */
export async function readInstructions(
  path: string,
  access: Omit<OwnedFileAccess, 'linkTargets'>,
): Promise<InstructionFile | undefined> {
  try {
    const bytes = await readOwnedFile(path, { ...access, linkTargets: TEXT_FILES }, MAX_BYTES)
    if (bytes === undefined) return undefined
    if (bytes.includes(0)) throw new RefusedFile('it is not UTF-8 text')
    const whole = new TextDecoder().decode(bytes)
    const visible = whole.replaceAll(HIDDEN, '')
    if (visible.trim() === '') return undefined
    const warning = visible === whole ? undefined : 'its invisible characters were removed'
    return { path, text: truncate(visible.trim()), warning }
  } catch (reason) {
    if (!(reason instanceof RefusedFile)) throw reason
    return { path, text: undefined, warning: `it is not read: ${reason.message}` }
  }
}

const TEXT_FILES = {
  extensions: new Set(['.md', '.mdc', '.markdown', '.txt']),
  name: 'Markdown or text file',
}
const INSTRUCTION_NAMES = ['Crab.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md']
/** The longest text of an instruction file, in characters; the rest is cut off, with a note for the model. */
const MAX_CHARS = 32_768
/** At least MAX_CHARS characters in any script. */
const MAX_BYTES = 4 * MAX_CHARS

/**
 * Characters that a person does not see and a model reads: control characters, bidirectional overrides, tags,
 * supplementary variation selectors, and zero-width characters that join nothing.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu

function truncate(text: string): string {
  return text.length <= MAX_CHARS
    ? text
    : `${takeStart(text, MAX_CHARS)}\n[cut after ${MAX_CHARS} characters]`
}
