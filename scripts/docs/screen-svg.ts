/** Attributes of a piece of a line. */
interface CellStyle {
  color: string
  background: string
  classes: readonly string[]
}

interface Run extends CellStyle {
  text: string
  /** The first column. */
  x: number
}

export interface PictureOptions {
  columns: number
  /** The text for readers who do not see the picture. */
  title: string
  /** The CSS class of each background, by its SGR parameters such as `48;2;26;26;26`. */
  backgrounds: ReadonlyMap<string, string>
  /** More rules for the style sheet: the colors of those classes. */
  css: string
  /** Whether the picture is light for every reader, instead of following their theme. */
  isLight?: boolean
}

/** Renders lines with colors (SGR) as an SVG picture with text, which follows the reader's light or dark theme. */
export function toSvg(lines: readonly string[], options: PictureOptions): string {
  const width = round(options.columns * CELL_WIDTH + 2 * MARGIN)
  const height = lines.length * CELL_HEIGHT + 2 * MARGIN
  const rows = lines.map((line, y) => renderRow(line, y, options)).filter((row) => row !== '')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(options.title)}</title>
<style>${TEXT_CSS}${options.isLight ? LIGHT_CSS : THEMED_CSS}${options.css}</style>
<rect class="screen" x="0.5" y="0.5" width="${round(width - 1)}" height="${height - 1}" rx="8"/>
${rows.join('\n')}
</svg>
`
}

const CELL_WIDTH = 8.4
const CELL_HEIGHT = 19
const FONT_SIZE = 14
const MARGIN = 14

/** The colors of the 16 ANSI colors that the chat uses, for a dark and a light screen. */
const DARK = ['#6e7681', '#f47067', '#8ddb8c', '#e6c07b', '#6cb6ff', '#dcbdfb', '#76d9e6', '#d1d7e0']
const LIGHT = ['#57606a', '#cf222e', '#1a7f37', '#8a5d00', '#0550ae', '#8250df', '#0a6f91', '#1f2328']

const TEXT_CSS = `
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.b{font-weight:700}.d{opacity:.62}.i{font-style:italic}.u{text-decoration:underline}.s{text-decoration:line-through}
`
const DARK_CSS = `text{fill:#d1d7e0}.screen{fill:#101216;stroke:#30363d}${toColorRules(DARK)}\n`
const LIGHT_CSS = `text{fill:#1f2328}.screen{fill:#fff;stroke:#d0d7de}${toColorRules(LIGHT)}\n`
const THEMED_CSS = `${DARK_CSS}@media (prefers-color-scheme:light){${LIGHT_CSS}}\n`

function toColorRules(colors: readonly string[]): string {
  return colors.map((color, at) => `.c${at}{fill:${color}}`).join('')
}

function renderRow(line: string, y: number, { backgrounds }: PictureOptions): string {
  const runs = splitRuns(line)
  const top = MARGIN + y * CELL_HEIGHT
  const rects = joinBackgrounds(runs).map(({ x, length, background }) => {
    const kind = backgrounds.get(background)
    const fill = kind === undefined ? ` fill="${toRgb(background)}"` : ` class="${kind}"`
    const left = round(MARGIN + x * CELL_WIDTH)
    return `<rect x="${left}" y="${top}" width="${round(length * CELL_WIDTH)}" height="${CELL_HEIGHT}"${fill}/>`
  })
  const texts = runs.flatMap((run) => splitWords(run)).map((run) => renderText(run, top))
  return [...rects, ...texts].join('')
}

function renderText({ text, x, color, classes }: Run, top: number): string {
  const isRgb = color.startsWith('38;2')
  const names = [...classes, ...(color === '' || isRgb ? [] : [color])]
  const kind = names.length === 0 ? '' : ` class="${names.join(' ')}"`
  const fill = isRgb ? ` fill="${toRgb(color)}"` : ''
  const length = [...text].length > 1 ? ` textLength="${round([...text].length * CELL_WIDTH)}"` : ''
  const left = round(MARGIN + x * CELL_WIDTH)
  return `<text x="${left}" y="${top + BASELINE}"${length}${kind}${fill}>${escapeXml(text)}</text>`
}

const BASELINE = 14

/** Splits a line into runs of one style; every character takes one column. */
function splitRuns(line: string): Run[] {
  const runs: Run[] = []
  let style: CellStyle = PLAIN
  let x = 0
  for (const piece of line.match(PIECES) ?? []) {
    if (piece.startsWith('\u001b')) {
      style = readStyle(piece.slice(2, -1))
      continue
    }
    runs.push({ ...style, text: piece, x })
    x += [...piece].length
  }
  return runs
}

const PLAIN: CellStyle = { color: '', background: '', classes: [] }
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a color
const PIECES = /\x1b\[[\d;]*m|[^\x1b]+/g

/** Reads the parameters of one SGR sequence that starts with a reset. */
function readStyle(parameters: string): CellStyle {
  let [color, background] = ['', '']
  const classes: string[] = []
  for (const [parameter] of parameters.matchAll(/[34]8;2;\d+;\d+;\d+|[34]8;5;\d+|\d+/g)) {
    const code = Number(parameter)
    const kind = CLASSES.get(parameter)
    if (parameter.startsWith('38;')) color = parameter
    else if (parameter.startsWith('48;')) background = parameter
    else if (kind !== undefined) classes.push(kind)
    else if (code >= 30 && code < 38) color = `c${code - 30}`
    else if (code >= 90 && code < 98) color = `c${code - 90}`
  }
  return { color, background, classes }
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['1', 'b'],
  ['2', 'd'],
  ['3', 'i'],
  ['4', 'u'],
  ['9', 's'],
])

/** Splits a run at blanks, so that a font of another width cannot move the words after them. */
function splitWords(run: Run): Run[] {
  return Array.from(run.text.matchAll(/\S+(?: \S+)*/g), ({ 0: text, index }) => ({
    ...run,
    text,
    x: run.x + [...run.text.slice(0, index)].length,
  }))
}

function joinBackgrounds(runs: readonly Run[]): { x: number; length: number; background: string }[] {
  const joined: { x: number; length: number; background: string }[] = []
  for (const { x, text, background } of runs) {
    if (background === '') continue
    const last = joined.at(-1)
    const length = [...text].length
    if (last?.background === background && last.x + last.length === x) last.length += length
    else joined.push({ x, length, background })
  }
  return joined
}

/** Converts `38;2;1;2;3` to a color of CSS. */
function toRgb(parameters: string): string {
  return `rgb(${parameters.split(';').slice(2).join(' ')})`
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
