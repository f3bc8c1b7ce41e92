/**
 * The text values of a front matter, by key; tables and lists are skipped. Or the reason why it cannot be
 * read.
 */
export type FrontMatter =
  | { ok: true; texts: ReadonlyMap<string, string> }
  | { ok: false; line: number; message: string }

/**
 * Reads the YAML between the first line `---` and the next one, as far as agentskills.io needs it: one key
 * and text per line, quoted or not, folded over further lines or as a block (`>`, `|`). Other YAML features
 * are refused. A colon in unquoted text is accepted although YAML refuses it, because many skills have one.
 */
export function readFrontMatter(text: string): FrontMatter {
  const [, start = ''] = /^\uFEFF?(---[^\S\n]*(?:\n|$))/.exec(text) ?? []
  if (start === '') return refusal(1, 'it does not start with front matter (---)')
  const end = text.search(/\r?\n---[^\S\n]*(?:\n|$)/) // a search, so that the rest of a skill is not split
  if (end < 0) return refusal(1, 'its front matter does not end with ---')
  const texts = new Map<string, string>()
  for (const { key, head, rest, line } of parseEntries(text.slice(0, end).split(/\r?\n/))) {
    if (key === undefined) return refusal(line, 'this line is not of the form "key: value"')
    if (texts.has(key)) return refusal(line, `there is a second "${key}"`)
    const value = readValue(head, rest)
    if (value.kind === 'wrong') return refusal(line, `the value of "${key}" ${value.why}`)
    if (value.kind === 'text') texts.set(key, value.text)
  }
  return { ok: true, texts }
}

/** Returns the text after the front matter; the whole text when there is none. */
export function stripFrontMatter(text: string): string {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---')
  if (lines[0]?.trimEnd() !== '---' || end < 0) return text
  return lines.slice(end + 1).join('\n')
}

interface Entry {
  /** The key; undefined for a line without one. */
  key: string | undefined
  /** The text after the colon. */
  head: string
  /** The continuation lines. */
  rest: string[]
  /** The line number, 1-based. */
  line: number
}

/**
 * Splits lines into unindented keys, each with its indented lines. Skips the first line, which is the fence.
 */
function parseEntries(lines: readonly string[]): Entry[] {
  const entries: Entry[] = []
  for (const [i, line] of lines.entries()) {
    const last = entries.at(-1)
    const isInner = /^(\s|$)/.test(line) || (/^-(\s|$)/.test(line) && last?.head === '')
    if (i === 0 || (last === undefined && line.trim() === '') || line.startsWith('#')) continue
    if (isInner && last !== undefined) last.rest.push(line)
    else entries.push(toEntry(line, i + 1))
  }
  return entries
}

function toEntry(text: string, line: number): Entry {
  const [, key, head = ''] = /^([A-Za-z][\w-]*)\s*:(?:\s+(.*))?$/.exec(text) ?? []
  return { key, head: head.trim(), rest: [], line }
}

type Value = { kind: 'text'; text: string } | { kind: 'other' } | { kind: 'wrong'; why: string }

function readValue(head: string, rest: readonly string[]): Value {
  const block = /^([>|])[+-]?(?:\s+#.*)?$/.exec(head)?.[1]
  if (block !== undefined) return { kind: 'text', text: readBlock(rest, block === '>') }
  const inner = rest.map((line) => line.trim()).filter((line) => line !== '')
  if (head === '' && isTable(inner[0] ?? '')) return { kind: 'other' }
  const whole = [head, ...inner].filter((line) => line !== '').join(' ')
  if (/^["']/.test(whole)) return readQuoted(whole)
  if (/^[[{]/.test(whole)) return { kind: 'other' }
  if (/^[&*!%@`|>]/.test(whole)) return { kind: 'wrong', why: `starts with "${whole[0]}"` }
  return { kind: 'text', text: whole.replace(/(^|\s)#.*$/, '').trimEnd() }
}

function isTable(line: string): boolean {
  return /^-(\s|$)/.test(line) || /^[\w."'-]+\s*:(\s|$)/.test(line)
}

function readQuoted(whole: string): Value {
  const [, double] = /^("(?:[^"\\]|\\.)*")(?:\s+#.*)?$/.exec(whole) ?? []
  const [, single] = /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(whole) ?? []
  if (single !== undefined) return { kind: 'text', text: single.replaceAll("''", "'") }
  try {
    if (double !== undefined) return { kind: 'text', text: JSON.parse(double) as string }
  } catch {
    return { kind: 'wrong', why: 'has an escape that is not known' }
  }
  return { kind: 'wrong', why: 'has a quote that does not end where the value does' }
}

/** Joins the lines of a block: as they are, or folded, where an empty line becomes a line break. */
function readBlock(lines: readonly string[], isFolded: boolean): string {
  const filled = lines.filter((line) => line.trim() !== '')
  const indent = filled.reduce((least, line) => Math.min(least, line.search(/\S/)), Infinity)
  const texts = lines.map((line) => (line.trim() === '' ? '' : line.slice(indent).trimEnd()))
  const text = texts.join('\n').trim()
  return isFolded ? text.replace(/([^\n])\n(?!\n)/g, '$1 ').replace(/\n\n/g, '\n') : text
}

function refusal(line: number, message: string): FrontMatter {
  return { ok: false, line, message }
}
