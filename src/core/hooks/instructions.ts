import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissingFile } from '../base/files.ts'
import type { Hook } from '../runtime/hook.ts'

/** Longest instruction file that is taken whole, characters; the rest is cut and the model is told. */
const MAX_CHARS = 32_768

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

/** The first of these files that has text; a file that cannot be read is as good as none. */
async function readInstructions(
  paths: readonly string[],
): Promise<{ path: string; text: string } | undefined> {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(unreadable)
    if (text.trim() !== '') return { path, text: cut(text.trim()) }
  }
  return undefined
}

function unreadable(reason: unknown): string {
  return isMissingFile(reason) ? '' : '[This file exists and could not be read.]'
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}\n[cut after ${MAX_CHARS} characters]`
}

/** From the root down to the folder itself. */
function ancestors(dir: string): string[] {
  const parent = dirname(dir)
  return parent === dir ? [dir] : [...ancestors(parent), dir]
}
