import { dirname } from 'node:path'
import { pluralize } from '../../base/format.ts'
import { type ChangeReport, type FileCall, lockTarget, requireSeenVersion } from './file-call.ts'
import { makeFolder } from './make-folder.ts'
import { openFileTarget, readBytes } from './open-target.ts'
import { createContent, replaceContent } from './replace.ts'
import { countLines, decodeText, encodeText, type FileText } from './text.ts'
import { backUpFile } from './undo/backup.ts'
import { hashVersion } from './version.ts'

/**
 * Creates a file and its missing folders, or replaces one whose version the conversation knows. The output
 * is a sentence about what it did.
 *
 * An empty file may be replaced without having been read. The encoding, byte order mark and CRLF of a
 * replaced text are preserved, as an editor would.
 */
export async function write(call: FileCall, content: string, signal: AbortSignal): Promise<ChangeReport> {
  await using _ = await lockTarget(call, signal)
  const { target, files } = call
  const { bytes, did, before, after, remark = '' } = await put(call, content, signal)
  files.set(target.path, await hashVersion(bytes))
  const size = `${pluralize(countLines(content), 'line')}, ${pluralize(bytes.length, 'byte')}`
  return { output: `${did}: ${size}${remark}`, before, after }
}

/** Returns what a file holds after `write`; `before` is the text it replaces. */
export function contentFor(content: string, before: FileText | undefined): FileText {
  if (!before) return { text: content, encoding: 'utf-8', hasMark: false }
  const isCrlf = before.text.includes('\r\n') && !/(?<!\r)\n/.test(before.text)
  const text = isCrlf && !content.includes('\r\n') ? content.replaceAll('\n', '\r\n') : content
  return { ...before, text: before.hasMark && text.startsWith('\ufeff') ? text.slice(1) : text }
}

interface WriteResult extends Omit<ChangeReport, 'output'> {
  bytes: Buffer
  did: string
  remark?: string
}

async function put(call: FileCall, content: string, signal: AbortSignal): Promise<WriteResult> {
  const { target } = call
  await using file = await openFileTarget(target, { toChange: true })
  if (!file) return await create(call, content, signal)
  const before = await readBytes(file, target, signal)
  if (before.length > 0) requireSeenVersion(call, await hashVersion(before))
  const known = decodeText(before)
  const text = contentFor(content, known)
  const after = encodeText(text)
  const texts = { before: known?.text ?? '', after: text.text }
  if (after.equals(before)) return { ...texts, bytes: after, did: `${target.shown} already has this content` }
  signal.throwIfAborted()
  const change = { before: { bytes: before, mode: file.stats.mode }, after }
  const remark = await backUpFile(call, change, () => replaceContent(file, { before, after }, target))
  return { ...texts, bytes: after, did: `Replaced ${target.shown}${remarkOn(content, text)}`, remark }
}

async function create(call: FileCall, content: string, signal: AbortSignal): Promise<WriteResult> {
  const { target } = call
  const bytes = encodeText(contentFor(content, undefined))
  signal.throwIfAborted()
  const remark = await backUpFile(call, { before: undefined, after: bytes }, async () => {
    await using folder = await makeFolder(dirname(target.path), target)
    await createContent(folder, { bytes, target })
  })
  return { bytes, did: `Created ${target.shown}`, remark, before: '', after: content }
}

function remarkOn(content: string, { text, encoding, hasMark }: FileText): string {
  const preserved = [
    text.length > content.length ? 'CRLF' : '',
    encoding === 'utf-8' ? '' : encoding.toUpperCase(),
    hasMark && encoding === 'utf-8' ? 'byte order mark' : '',
  ].filter(Boolean)
  return preserved.length === 0 ? '' : ` (${preserved.join(' and ')} kept)`
}
