import { sanitize } from '../base/sanitize.ts'

/** Escapes a text for HTML, also inside attributes. Control characters and terminal sequences are removed. */
export function escapeHtml(text: string): string {
  return sanitize(text).replaceAll(/[&<>"']/g, (char) => ENTITIES[char]!)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Renders the parts of Markdown that make an answer readable: code, headings, lists, quotes, bold, and code in a line.
 * Everything else is kept as text, including links, so that a page never links to an address that is not visible.
 */
export function markdownToHtml(text: string): string {
  const lines = text.split('\n')
  const blocks: string[] = []
  for (let at = 0; at < lines.length; ) {
    const [block, next] = readFence(lines, at) ?? readRun(lines, at)
    blocks.push(block)
    at = next
  }
  return blocks.join('')
}

/** Reads a fenced code block; one without an end reaches to the end of the text. */
function readFence(lines: readonly string[], at: number): [string, number] | undefined {
  const [, fence, language = ''] = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/.exec(lines[at]!) ?? []
  if (fence === undefined) return undefined
  const closing = lines.findIndex((line, index) => index > at && line.trim() === fence)
  const end = closing < 0 ? lines.length : closing
  const label = language === '' ? '' : `<span class="language">${escapeHtml(language)}</span>`
  const code = escapeHtml(lines.slice(at + 1, end).join('\n'))
  return [`<pre>${label}<code>${code}</code></pre>`, end + 1]
}

/** Reads the lines up to a blank line, a heading or a fence as one block. */
function readRun(lines: readonly string[], at: number): [string, number] {
  const first = lines[at]!
  if (first.trim() === '') return ['', at + 1]
  const heading = /^(#{1,6})\s+(.*)$/.exec(first)
  if (heading) {
    const level = heading[1]!.length
    return [`<h${level}>${inlineToHtml(heading[2]!)}</h${level}>`, at + 1]
  }
  const next = lines.findIndex((line, index) => index > at && ENDS_RUN.test(line))
  const end = next < 0 ? lines.length : next
  const run = lines.slice(at, end)
  const isQuote = run.every((line) => /^ {0,3}>/.test(line))
  const shown = isQuote ? run.map((line) => line.replace(/^ {0,3}> ?/, '')) : run.map(toBullet)
  const tag = isQuote ? 'blockquote' : 'p'
  return [`<${tag}>${shown.map(inlineToHtml).join('\n')}</${tag}>`, end]
}

const ENDS_RUN = /^\s*$|^#{1,6}\s|^ {0,3}(?:`{3,}|~{3,})/

function toBullet(line: string): string {
  return line.replace(/^(\s*)[-*+] /, '$1• ')
}

function inlineToHtml(line: string): string {
  return line
    .split(/(`+[^`]+`+)/)
    .map((part) => {
      const code = /^(`+)([^`]+)\1$/.exec(part)
      return code ? `<code>${escapeHtml(code[2]!)}</code>` : toBold(escapeHtml(part))
    })
    .join('')
}

function toBold(html: string): string {
  return html.replaceAll(/\*\*(\S(?:[^*]*\S)?)\*\*/g, '<strong>$1</strong>')
}
