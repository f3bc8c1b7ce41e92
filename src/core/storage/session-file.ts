import { parseObject } from '../base/json.ts'
import type { JsonObject } from '../base/message.ts'
import { toSessionLine } from './session-line.ts'
import {
  type NewLine,
  type ReadPosition,
  SESSION_VERSION,
  type SessionHeader,
  type SessionLine,
  type SessionPart,
} from './types.ts'

/** The byte that ends every line; it never occurs inside one. */
export const NEWLINE = 0x0a

/** Encodes the first line of a session file, with its newline (ADR 0031). */
export function encodeHeader(header: SessionHeader): string {
  return `${JSON.stringify(header)}\n`
}

/**
 * Encodes the lines that follow `seq`, each stamped and with its newline; `now` is milliseconds since the
 * epoch.
 */
export function encodeLines(lines: readonly NewLine[], seq: number, now: number): string[] {
  return stampLines(lines, seq, now).map(encodeLine)
}

/** Adds `seq` and `ts` to lines; `seq` is that of the line before them. */
export function stampLines(lines: readonly NewLine[], seq: number, now: number): SessionLine[] {
  const ts = new Date(now).toISOString()
  return lines.map((line, index) => {
    const stamp = { seq: seq + index + 1, ts }
    return Object.assign({ ...stamp }, line, stamp) // replaces the stamp of a line that was read elsewhere
  })
}

/** Encodes a line of the file, with its newline. */
export function encodeLine(line: SessionLine): string {
  return `${JSON.stringify(line)}\n`
}

/**
 * Decodes a whole session file; never fails. Skips unusable lines with a warning, and lines of a kind that
 * this build does not know without one.
 *
 * Bytes after the last newline belong to a writer that has not finished, or never will: the cursor stops
 * before them. Each line increments `seq`, and they always ascend.
 */
export function decodeSession(bytes: Uint8Array): SessionPart {
  const { header, warnings, end } = decodeHeader(bytes)
  const part = decodeLines(bytes.subarray(end), { header, since: { bytes: end, seq: 0 } })
  return { ...part, whole: true, warnings: [...warnings, ...part.warnings] }
}

/** Returns the raw lines after the header up to the line with `seq` `upto` (Infinity: all), without a torn tail. */
export function sliceLines(bytes: Uint8Array, upto: number): string {
  const { end } = decodeHeader(bytes)
  const text = decodeText(bytes.subarray(end, bytes.lastIndexOf(NEWLINE) + 1))
  if (upto === Number.POSITIVE_INFINITY) return text
  let seq = 0
  for (let start = 0; start < text.length; ) {
    const stop = text.indexOf('\n', start)
    const line = text.slice(start, stop)
    if (line.trim() !== '') seq = nextSeq(parseObject(line)?.['seq'], seq)
    if (seq > upto) return text.slice(0, start)
    start = stop + 1
  }
  return text
}

/** Decodes the part of a session file that begins at `since`; `bytes` begin there too. */
export function decodeLines(
  bytes: Uint8Array,
  { header, since }: { header: SessionHeader; since: ReadPosition },
): SessionPart {
  const end = bytes.lastIndexOf(NEWLINE) + 1
  const text = decodeText(bytes.subarray(0, end))
  const part: SessionPart = { whole: false, header, lines: [], cursor: { ...since }, warnings: [] }
  for (let start = 0; start < text.length; ) {
    const stop = text.indexOf('\n', start)
    addLine(part, text.slice(start, stop))
    start = stop + 1
  }
  part.cursor.bytes += end
  return part
}

/**
 * Decodes a line that follows the line with `seq`, and its own `seq`; `createdAt` is the header's.
 *
 * `line` is a string with the reason when it is unusable, and undefined when it is blank (which does not
 * increment `seq`) or from a newer build.
 */
export function decodeLine(
  text: string,
  { seq: last, createdAt }: { seq: number; createdAt: string },
): { seq: number; line: SessionLine | string | undefined } {
  const object = parseObject(text)
  if (!object && text.trim() === '') return { seq: last, line: undefined }
  const seq = nextSeq(object?.['seq'], last)
  return {
    seq,
    line: object ? toSessionLine(stampObject(object, seq, createdAt)) : 'it is not a JSON object',
  }
}

/**
 * Decodes line 1 of the file that begins with these bytes, and returns where it ends. Missing fields take
 * defaults.
 *
 * A file that lost its header keeps its conversation: `end` is 0 when the first line is not a header.
 */
export function decodeHeader(bytes: Uint8Array): { header: SessionHeader; warnings: string[]; end: number } {
  const end = bytes.indexOf(NEWLINE) + 1
  const found = parseObject(decodeText(bytes.subarray(0, end)))
  if (!found) return { header: toHeader({}), warnings: ['The first line of the session cannot be read'], end }
  if (typeof found['kind'] === 'string' && found['agent_id'] === undefined) {
    return { header: toHeader({}), warnings: ['The first line of the session is missing'], end: 0 }
  }
  const header = toHeader(found)
  const isNewer = header.v > SESSION_VERSION
  return {
    header,
    warnings: isNewer ? ['This session was written by a newer version; parts may be missing'] : [],
    end,
  }
}

const MAX_WARNINGS = 10
/** Far more lines than any session has. Search stores a `seq` in 32 bits, so lines that follow still fit. */
const MAX_SEQ = 2 ** 31
const EPOCH = new Date(0).toISOString()

function addLine(part: SessionPart, text: string): void {
  const { seq, line } = decodeLine(text, { seq: part.cursor.seq, createdAt: part.header.created_at })
  part.cursor.seq = seq
  if (typeof line === 'object') part.lines.push(line)
  else if (line !== undefined) warn(part.warnings, `Line ${seq + 1} of the session was skipped: ${line}`)
}

function stampObject(line: JsonObject, seq: number, fallback: string): JsonObject {
  line['seq'] = seq
  line['ts'] = toText(line['ts'], fallback)
  return line
}

function nextSeq(own: unknown, last: number): number {
  return Number.isSafeInteger(own) && Number(own) > last && Number(own) < MAX_SEQ ? Number(own) : last + 1
}

function warn(warnings: string[], sentence: string): void {
  if (warnings.length < MAX_WARNINGS) warnings.push(sentence)
  else if (warnings.length === MAX_WARNINGS) warnings.push('More lines of the session were skipped')
}

/** Buffer's own toString('utf8') takes several times as long. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function toHeader(found: JsonObject): SessionHeader {
  const { v, forked_from, ...rest } = found
  return {
    ...rest,
    v: typeof v === 'number' ? v : SESSION_VERSION,
    agent: toText(found['agent'], ''),
    agent_id: toText(found['agent_id'], ''),
    created_by: toText(found['created_by'], ''),
    created_at: toText(found['created_at'], EPOCH),
    cwd: toText(found['cwd'], ''),
    ...(typeof forked_from === 'string' && { forked_from }),
  }
}

function toText(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback
}
