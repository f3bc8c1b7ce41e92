import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TextIndex } from '../../../../src/core/search/text-index.ts'
import type { TextHit } from '../../../../src/core/search/types.ts'
import type { FileToRead } from '../../../../src/core/session-search/background/types.ts'
import { addLine } from '../../../../src/core/session-search/live-lines.ts'
import { encodeHeader, encodeLines } from '../../../../src/core/storage/session-file.ts'
import type { NewLine, SessionLine } from '../../../../src/core/storage/types.ts'
import { makeHeader, toLine } from '../../storage/samples.ts'

/** The file sizes after the headers. */
export const HEADER = makeHeader()
const START = Date.UTC(2026, 0, 1)

/** Session files whose group is their number. */
export async function sessionFiles() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-sessions-'))
  mkdirSync(join(folder.path, 'sessions'))
  const path = (group: number) => join(folder.path, 'sessions', `${group}.jsonl`)
  return {
    path,
    /** A folder next to them. */
    index: join(folder.path, 'index'),
    file: (group: number): FileToRead => ({ group, path: path(group) }),
    /** Writes a file; returns its end position. */
    write(group: number, lines: readonly NewLine[]): number {
      const text = encodeHeader(HEADER) + encodeLines(lines, 0, START).join('')
      writeFileSync(path(group), text)
      return Buffer.byteLength(text)
    },
    append(group: number, lines: readonly NewLine[], seq: number): void {
      appendFileSync(path(group), encodeLines(lines, seq, START).join(''))
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

/** The index built from the lines as they are written, one after another. */
export function writtenIndex(sessions: ReadonlyMap<number, readonly NewLine[]>): TextIndex {
  const index = new TextIndex()
  for (const [group, lines] of sessions) {
    let offset = Buffer.byteLength(encodeHeader(HEADER))
    for (const text of encodeLines(lines, 0, START)) {
      addLine(index, { group, offset }, JSON.parse(text) as SessionLine)
      offset += Buffer.byteLength(text)
    }
  }
  return index
}

/** Sessions that each contain every word of WORDS, and one word of their own. */
export function manySessions(count: number): Map<number, NewLine[]> {
  return new Map(Array.from({ length: count }, (_, group) => [group, makeLines(group)]))
}

const WORDS = ['harbour', 'Überfall', 'getUserName', '東京都', 'naïve', 'retry', 'crab', '3.14']

/** Returns everything an index knows, for comparisons. */
export function allHits(index: TextIndex): TextHit[][] {
  return [...WORDS, WORDS.join(' '), 'own17'].map((text) => index.search({ text, limit: 1000 }))
}

function makeLines(group: number): NewLine[] {
  const word = (at: number) => WORDS[(group * 7 + at * at) % WORDS.length]!
  const call = { id: 'c', name: 'bash', arguments: JSON.stringify({ command: `grep ${word(3)}` }) }
  return [
    toLine(`own${group} ${word(1)} ${word(2)} ${word(2)}`),
    { kind: 'meta', title: 'an early title' },
    { kind: 'entry', role: 'assistant', content: word(5), tool_calls: [call] },
    { kind: 'entry', role: 'tool', content: 'harbour harbour', tool_call_id: 'c' },
    { kind: 'event', event: 'user_steered', content: 'harbour' },
    toLine(`${word(6)} ${word(7)} crab`, 'assistant'),
    {
      kind: 'meta',
      title: `title ${word(4)}`,
      ...(group % 3 === 0 && { summary: `${word(8)} own${group}` }),
    },
  ]
}
