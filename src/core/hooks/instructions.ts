import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { headOf } from '../base/cut.ts'
import type { Hook } from '../runtime/hook.ts'

/** Longest instruction file that is taken whole, characters; the rest is cut and the model is told. */
const MAX_CHARS = 32_768
/** More than MAX_CHARS in any script. */
const MAX_BYTES = 4 * MAX_CHARS

/**
 * Layers instruction files into the system prompt: the home's Crab.md, then one of every folder from the root
 * down to the working directory (Crab.md, or AGENTS.md where there is none).
 */
export function instructionsHook(options: { homeFile: string }): Hook {
  return {
    async context(cwd) {
      const found = await Promise.all([
        readInstructions([options.homeFile]),
        ...ancestors(cwd).map((dir) => readInstructions([join(dir, 'Crab.md'), join(dir, 'AGENTS.md')])),
      ])
      const blocks = new Map(found.flatMap((file) => (file ? [[file.path, file.text]] : [])))
      return [...blocks]
        .map(([path, text]) => `<instructions from="${path}">\n${text}\n</instructions>`)
        .join('\n')
    },
  }
}

/** The first of these files that has text; of one that is there and cannot be read, that it is. */
async function readInstructions(
  paths: readonly string[],
): Promise<{ path: string; text: string } | undefined> {
  for (const path of paths) {
    const text = await readStart(path).catch(unreadable)
    if (text.trim() !== '') return { path, text: cut(text.trim()) }
  }
  return undefined
}

/** Nothing for what is no file: anybody may make a FIFO in a folder above, and it would block for ever. */
async function readStart(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (!(await file.stat()).isFile()) return ''
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0)
  return new TextDecoder().decode(buffer.subarray(0, bytesRead))
}

function unreadable(reason: unknown): string {
  const { code = '' } = reason as NodeJS.ErrnoException
  return ['ENOENT', 'ENOTDIR'].includes(code) ? '' : '[This file could not be read.]'
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${headOf(text, MAX_CHARS)}\n[cut after ${MAX_CHARS} characters]`
}

/** From the root down to the folder itself. */
function ancestors(dir: string): string[] {
  const parent = dirname(dir)
  return parent === dir ? [dir] : [...ancestors(parent), dir]
}
