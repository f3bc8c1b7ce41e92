/**
 * Returns a function that tests whether a glob matches a whole path. The separator is `/`.
 *
 * `*` and `?` match within a segment; `**` as a whole segment matches any number of segments; `[a-z]`, `[!a]`
 * and `{a,b}` work as in a shell; a backslash escapes a character. Leading dots and parentheses are ordinary
 * characters. A match takes time at most proportional to the product of the two lengths. Throws SyntaxError
 * for an invalid glob, such as `[z-a]`.
 */
export function globMatcher(glob: string, { ignoreCase = false } = {}): (path: string) => boolean {
  const forms = expandBraces(glob).map((form) => readForm(form, ignoreCase ? 'isu' : 'su'))
  return (path) => {
    const segments = path.split('/')
    return forms.some((form) => matchesForm(form, segments))
  }
}

/** Whether a text contains an unescaped character that is special in a glob. */
export function hasGlob(text: string): boolean {
  return /^(?:[^\\]|\\[\s\S])*?[*?[{]/.test(text)
}

/** Returns a glob that matches exactly this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{},]/g, '\\$&')
}

/** Returns the text that a glob without special characters matches. */
export function unescapeGlob(glob: string): string {
  return glob.replace(/\\([\s\S])/g, '$1')
}

/** Expands `a{b,c}` to the globs it stands for. Braces without a comma are literal. */
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

/** Finds the first pair of braces that contains a comma. */
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

/**
 * A segment of a path. The pieces between its stars, each with a fixed number of characters, are searched one
 * after the other.
 */
interface Segment {
  first: RegExp
  others: readonly RegExp[]
}

/** Consecutive segments. Rows are separated by `**`. */
type Row = readonly Segment[]

/** The rows of a glob; never empty. */
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

/** Matches greedily: placing every row at its first fit leaves the most segments to the following rows. */
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

/** Matches one segment. An empty segment never matches. */
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

/** An escaped character, stars, a question mark, a class, or any other character. */
const TOKEN = /\\[\s\S]|\*+|\?|\[[!^]?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/gu
/** End of input. `$` is not used, since V8 does not always find `/[^a][^a]$/gu` in `b😀`. */
const END = '(?![^])'
const MAX_FORMS = 1_000
/** The limit for the total length of all alternatives. */
const MAX_LENGTH = 10_000
