import { CrabError } from '../../base/errors.ts'
import { fromIsoTime, toIsoTime } from '../time.ts'
import type { MemoryEntry } from '../types.ts'

/** The parsed file of an entry; absent fields are undefined. */
export interface EntryFile {
  /** Only set when it differs from the file name. */
  name: string | undefined
  /** Seconds since 1970. */
  createdAt: bigint | undefined
  aliases: string[]
  content: string
}

/** Formats an entry as a Markdown file with a leading metadata block; `stem` is the file name without `.md`. */
export function formatEntryFile({ name, createdAt, aliases, content }: MemoryEntry, stem: string): string {
  const time = toIsoTime(createdAt)
  const items = aliases.map((alias) => `<li>${escapeHtml(alias)}</li>`).join('')
  const rows = [
    ...(name === stem ? [] : [['Name', escapeHtml(name)]]),
    ['Created', `<time datetime="${time}">${time}</time>`],
    ...(aliases.length === 0 ? [] : [['Aliases', `<ul>${items}</ul>`]]),
  ]
  const lines = rows.map(([term, value]) => `  <dt>${term}</dt>\n  <dd>${value}</dd>\n`)
  return `${BEGIN}\n<dl>\n${lines.join('')}</dl>\n${END}\n\n${content}\n`
}

/**
 * Parses the output of formatEntryFile() without loss. In a text without the block, everything but the final
 * line break is content.
 *
 * Throws `invalid` when any part of the block is unreadable, so that nothing of it is lost.
 */
export function parseEntryFile(text: string): EntryFile {
  const plain = text.replace(/^\ufeff/, '')
  if (!plain.startsWith(BEGIN)) {
    return { name: undefined, createdAt: undefined, aliases: [], content: plain.replace(/\r?\n$/, '') }
  }
  const end = plain.indexOf(END)
  if (end < 0) throw metadataError(`it has no ${END}`)
  return { ...readRows(plain.slice(BEGIN.length, end)), content: toContent(plain.slice(end + END.length)) }
}

const BEGIN = '<div id="meta">'
const END = '</div>'

/**
 * Strips the line end after the block and the blank line. An editor may have converted all line ends to CRLF.
 */
function toContent(rest: string): string {
  const text = rest.startsWith('\r\n') ? rest.replaceAll('\r\n', '\n') : rest
  return text.replace(/^\n{0,2}/, '').replace(/\n$/, '')
}

function readRows(block: string): Omit<EntryFile, 'content'> {
  const list = elementContents(block.trim(), 'dl')
  if (list === undefined) throw metadataError('it contains more than a <dl>')
  const rows = new Map(parseElements(list, ['dt', 'dd'], 'the <dl>'))
  const unknown = [...rows.keys()].find((term) => !['Name', 'Created', 'Aliases'].includes(term))
  if (unknown !== undefined) throw metadataError(`unknown name "${unknown}"`)
  const [name, created, aliases] = [rows.get('Name'), rows.get('Created'), rows.get('Aliases')]
  return {
    name: name === undefined ? undefined : unescapeHtml(name),
    createdAt: created === undefined ? undefined : readTime(created),
    aliases: aliases === undefined ? [] : readAliases(aliases),
  }
}

/** Parses consecutive pairs of elements, keyed by the trimmed text of the first. */
function parseElements(text: string, [first, second]: [string, string], where: string): [string, string][] {
  const pairs: [string, string][] = []
  let rest = text.trim()
  while (rest !== '') {
    const term = firstElement(rest, first)
    const value = term && firstElement(term.rest, second)
    if (!value)
      throw metadataError(`${where} contains something other than pairs of <${first}> and <${second}>`)
    pairs.push([unescapeHtml(term.text), value.text])
    rest = value.rest
  }
  return pairs
}

function readTime(value: string): bigint {
  const [, attribute] = /^\s*<time datetime="([^"]*)">[^<]*<\/time>\s*$/.exec(value) ?? []
  const text = unescapeHtml(attribute ?? value)
  const time = fromIsoTime(text)
  if (time === undefined) throw metadataError(`"${text}" is not a timestamp`)
  return time
}

function readAliases(value: string): string[] {
  const list = elementContents(value.trim(), 'ul')
  if (list === undefined) throw metadataError('the aliases are not a <ul>')
  const aliases: string[] = []
  for (let rest = list.trim(); rest !== ''; ) {
    const item = firstElement(rest, 'li')
    if (!item) throw metadataError('the <ul> of the aliases contains something other than <li>')
    aliases.push(unescapeHtml(item.text))
    rest = item.rest
  }
  return aliases
}

/** Returns the contents of an element that spans the whole text. */
function elementContents(text: string, tag: string): string | undefined {
  const [open, close] = [`<${tag}>`, `</${tag}>`]
  return text.startsWith(open) && text.endsWith(close) ? text.slice(open.length, -close.length) : undefined
}

/** Returns the leading element of a text, and the text after it. */
function firstElement(text: string, tag: string): { text: string; rest: string } | undefined {
  const [open, close] = [`<${tag}>`, `</${tag}>`]
  const end = text.startsWith(open) ? text.indexOf(close) : -1
  if (end < 0) return undefined
  return { text: text.slice(open.length, end), rest: text.slice(end + close.length).trimStart() }
}

/**
 * Escapes HTML. Surrounding blanks and line-breaking characters become numeric references, because unescaped
 * ones are treated as layout.
 */
function escapeHtml(text: string): string {
  const named = text.replace(/[&<>]/g, (char) => ESCAPES[char]!)
  return named.replace(/^\s+|\s+$|[\p{Cc}\p{Zl}\p{Zp}\ufeff]/gu, (chars) => {
    return [...chars].map((char) => `&#${char.codePointAt(0)};`).join('')
  })
}

function unescapeHtml(html: string): string {
  return html.trim().replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMES.get(name) ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole
  })
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }),
)

function metadataError(why: string): CrabError {
  return new CrabError('invalid', `its metadata cannot be read: ${why}`)
}
