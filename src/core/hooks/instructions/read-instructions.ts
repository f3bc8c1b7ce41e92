import { join } from 'node:path'
import { takeStart } from '../../base/truncate.ts'
import { type InstructionAccess, RefusedFile, readInstructionBytes } from './open-instructions.ts'

/** An instruction file that is there. */
export interface InstructionFile {
  /** Absolute. */
  path: string
  /** Its text, trimmed and without hidden characters; undefined when it is refused or blank. */
  text: string | undefined
  /** A warning for the user, as the end of a sentence; undefined when there is none. */
  warning: string | undefined
}

/** The files of one folder, in this order, up to the first that has text: Crab.md, or else AGENTS.md. */
export async function readFolder(folder: string, access: InstructionAccess): Promise<InstructionFile[]> {
  const files: InstructionFile[] = []
  for (const name of INSTRUCTION_NAMES) {
    const file = await readInstructions(join(folder, name), access)
    if (file) files.push(file)
    if (file?.text !== undefined) break
  }
  return files
}

/** One instruction file; undefined when there is nothing, or nothing but blanks. */
export async function readInstructions(
  path: string,
  access: InstructionAccess,
): Promise<InstructionFile | undefined> {
  try {
    const bytes = await readInstructionBytes(path, access, MAX_BYTES)
    if (bytes === undefined) return undefined
    if (bytes.includes(0)) throw new RefusedFile('it is not a text in UTF-8')
    const whole = new TextDecoder().decode(bytes)
    const visible = whole.replaceAll(HIDDEN, '')
    if (visible.trim() === '') return undefined
    const warning = visible === whole ? undefined : 'its hidden characters are left out'
    return { path, text: cut(visible.trim()), warning }
  } catch (reason) {
    if (!(reason instanceof RefusedFile)) throw reason
    return { path, text: undefined, warning: `it is not read: ${reason.message}` }
  }
}

const INSTRUCTION_NAMES = ['Crab.md', 'AGENTS.md']
/** Longest instruction file that is taken whole, characters; the rest is cut and the model is told. */
const MAX_CHARS = 32_768
/** More than MAX_CHARS in any script. */
const MAX_BYTES = 4 * MAX_CHARS

/**
 * Characters that a reader does not see and a model reads: controls, bidirectional overrides, tags, variation selectors of the
 * supplement, and blanks without width that join nothing.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu

function cut(text: string): string {
  return text.length <= MAX_CHARS
    ? text
    : `${takeStart(text, MAX_CHARS)}\n[cut after ${MAX_CHARS} characters]`
}
