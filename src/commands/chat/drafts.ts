import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import { Serial } from '../../core/base/serial.ts'
import type { StoredDraft, WindowDraft } from '../../tui/ports.ts'

/** Stores the draft of one window, and reads those that killed windows have left. */
export interface DraftStore {
  /** Replaces the draft of this window; undefined removes it. Failures are ignored. */
  save(draft: WindowDraft | undefined): Promise<void>
  /** Returns the drafts of all other windows, newest first. */
  readOthers(): Promise<readonly StoredDraft[]>
  /** Removes the draft of another window, after what was saved before. */
  remove(id: string): Promise<void>
}

/** Opens the drafts in a folder: one file for each window, named by `id`. */
export function openDrafts(folder: string, { id, now }: { id: string; now(): number }): DraftStore {
  const writes = new Serial()
  const toPath = (name: string) => join(folder, `${name}${EXTENSION}`)
  const remove = (name: string) => rm(toPath(name), { force: true }).catch(() => undefined)
  return {
    save: (draft) =>
      writes.run(async () => {
        if (!draft) return await remove(id)
        const json = JSON.stringify(draft)
        if (json.length > MAX_CHARS) return
        await replaceFile(toPath(id), json).catch(() => undefined) // a read-only home
      }),
    async readOthers() {
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(EXTENSION))
      const others = names.map((name) => name.slice(0, -EXTENSION.length)).filter((name) => name !== id)
      const read = await Promise.all(others.map((other) => readDraft(toPath(other), other)))
      const found = read.flatMap((draft) => draft ?? [])
      const before = now() - MAX_AGE_MS
      for (const { id: old } of found.filter(({ savedAt }) => savedAt < before)) await remove(old)
      return found.filter(({ savedAt }) => savedAt >= before).toSorted((a, b) => b.savedAt - a.savedAt)
    },
    remove: (other) => writes.run(() => remove(other)),
  }
}

const EXTENSION = '.json'
/** The time after which a forgotten draft is removed, in milliseconds. */
const MAX_AGE_MS = 30 * 86_400_000
/** Longer drafts are not stored: they come from a paste or a file. */
const MAX_CHARS = 2 * 1024 * 1024

async function readDraft(path: string, id: string): Promise<StoredDraft | undefined> {
  try {
    const { mtimeMs: savedAt, size } = await stat(path)
    if (size > MAX_CHARS * 8) return undefined
    const draft = parseObject(await readFile(path, 'utf8'))
    return draft && isDraft(draft) ? { ...draft, id, savedAt } : undefined
  } catch {
    return undefined // it was just removed
  }
}

function isDraft(value: object): value is WindowDraft {
  const draft = value as Partial<Record<keyof WindowDraft, unknown>>
  const { agent, sender, cwd, runId = '', queue = [], steers = [] } = draft
  const isAddressed = [agent, sender, cwd, runId].every((one) => typeof one === 'string')
  return isAddressed && isSentText(draft) && [queue, steers].every(isSentTexts)
}

function isSentTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'object' && one && isSentText(one))
}

function isSentText(value: { text?: unknown; pasted?: unknown; content?: unknown }): boolean {
  const { text, pasted, content = '' } = value
  const isText = typeof text === 'string' && typeof content === 'string'
  return isText && Array.isArray(pasted) && pasted.every((one) => typeof one === 'string')
}
