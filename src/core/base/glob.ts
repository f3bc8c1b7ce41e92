/**
 * Makes a test of whether a glob matches the whole of a path with `/`.
 *
 * `*` and `?` stay within a segment, `**` as a whole segment is any number of them, `[a-z]`, `[!a]` and `{a,b}` are as in
 * a shell, a backslash takes a character's meaning away; dots at the beginning and parentheses are nothing special. The
 * time is in proportion to the lengths of both at most. Throws SyntaxError for what is no glob, such as `[z-a]`.
 */
export function globMatcher(glob: string, { ignoreCase = false } = {}): (path: string) => boolean {
  const forms = expandBraces(glob).map((form) => readForm(form, ignoreCase ? 'isu' : 'su'))
  return (path) => {
    const segments = path.split('/')
    return forms.some((form) => matchesForm(form, segments))
  }
}

/** Whether a text has a character that means something in a glob and is not escaped. */
export function hasGlob(text: string): boolean {
  return /^(?:[^\\]|\\[\s\S])*?[*?[{]/.test(text)
}

/** A glob that matches just this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{},]/g, '\\$&')
}

/** What a glob without a special character matches. */
export function unescapeGlob(glob: string): string {
  return glob.replace(/\\([\s\S])/g, '$1')
}

/** The globs that `a{b,c}` stands for; braces that enclose no choice stand for themselves. */
function expandBraces(glob: string): string[] {
  let forms = [glob]
  while (true) {
    if (forms.length > MAX_FORMS) throw new SyntaxError(`more than ${MAX_FORMS} alternatives`)
    if (forms.reduce((sum, { length }) => sum + length, 0) > MAX_LENGTH)
      throw new SyntaxError('it is too long')
    const choices = forms.map(findChoice)
    if (choices.every((choice) => choice === undefined)) return forms
    forms = forms.flatMap((form, i) => {
      const { start, end, options } = choices[i] ?? { start: 0, end: form.length, options: [form] }
      return options.map((option) => form.slice(0, start) + option + form.slice(end))
    })
  }
}

/** The first braces around a comma. */
function findChoice(glob: string): { start: number; end: number; options: string[] } | undefined {
  const open: { start: number; cuts: number[] }[] = []
  for (const { 0: token, index } of glob.matchAll(/\\[\s\S]|[{},]/g)) {
    if (token === '{') open.push({ start: index, cuts: [] })
    if (token === ',') open.at(-1)?.cuts.push(index)
    const closed = token === '}' ? open.pop() : undefined
    if (closed === undefined || closed.cuts.length === 0) continue
    const edges = [closed.start, ...closed.cuts, index]
    const options = edges.slice(1).map((edge, i) => glob.slice(edges[i]! + 1, edge))
    return { start: closed.start, end: index + 1, options }
  }
  return undefined
}

/** A segment of a path; the pieces between its stars, each of a fixed number of characters, are found one by one. */
interface Segment {
  first: RegExp
  others: readonly RegExp[]
}

/** Segments that stand side by side; between one such row and the next was a `**`. */
type Row = readonly Segment[]

/** Never empty. */
type Form = readonly Row[]

function readForm(glob: string, flags: string): Form {
  const rows: Segment[][] = [[]]
  for (const segment of glob.split('/')) {
    if (segment !== '**') rows.at(-1)!.push(readSegment(segment, flags))
    else if (rows.length === 1 || rows.at(-1)!.length > 0) rows.push([])
  }
  return rows
}

function readSegment(segment: string, flags: string): Segment {
  const pieces = ['']
  for (const token of segment.match(TOKEN) ?? []) {
    if (token.startsWith('*')) pieces.push('')
    else pieces[pieces.length - 1] += translateToken(token)
  }
  const sources = pieces.map(
    (piece, i) => (i === 0 ? '^' : '') + piece + (i === pieces.length - 1 ? END : ''),
  )
  const [first = '', ...others] = sources.filter((source, i) => source !== '' || i === 0)
  return { first: new RegExp(first, `${flags}g`), others: others.map((one) => new RegExp(one, `${flags}g`)) }
}

/** Every row where it fits first leaves most to the rows behind it. */
function matchesForm([first, ...others]: Form, path: readonly string[]): boolean {
  const last = others.pop()
  if (!fits(first!, path, 0)) return false
  let at = first!.length
  if (last === undefined) return at === path.length
  for (const row of others) {
    while (!fits(row, path, at)) {
      if (at >= path.length || path[at] === '') return false
      at++
    }
    at += row.length
  }
  if (last.length === 0) return true
  const rest = path.length - last.length
  return rest >= at && fits(last, path, rest) && !path.slice(at, rest).includes('')
}

function fits(row: Row, path: readonly string[], at: number): boolean {
  return at + row.length <= path.length && row.every((segment, i) => matchesSegment(segment, path[at + i]!))
}

/** A segment is never empty. */
function matchesSegment({ first, others }: Segment, name: string): boolean {
  if (name === '') return false
  let at = 0
  for (const piece of [first, ...others]) {
    piece.lastIndex = at
    if (!piece.test(name)) return false
    at = piece.lastIndex
  }
  return true
}

function translateToken(token: string): string {
  if (token === '?') return '.'
  if (token.length > 2 && token.startsWith('[')) return translateClass(token)
  return RegExp.escape(unescapeGlob(token))
}

function translateClass(token: string): string {
  const isNegated = /^\[[!^]/.test(token)
  const content = token.slice(isNegated ? 2 : 1, -1)
  if (content.includes('[:')) throw new SyntaxError(`${token} is a named class`)
  const members = content.replace(/\\([\s\S])|[[\]^\\]/g, (member, escaped?: string) => {
    return /[\w\s]/.test(escaped ?? '') ? escaped! : `\\${escaped ?? member}`
  })
  return `[${isNegated ? '^' : ''}${members}]`
}

/** An escaped character, stars, a question mark, a class, any other character. */
const TOKEN = /\\[\s\S]|\*+|\?|\[[!^]?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/gu
/** V8 does not always find `/[^a][^a]$/gu` in `b😀`. */
const END = '(?![^])'
const MAX_FORMS = 1_000
/** Of all alternatives together. */
const MAX_LENGTH = 10_000
