/**
 * A glob over a path with `/`, as a regular expression for the whole of it.
 *
 * `*` and `?` stay within a segment, `**` as a whole segment is any number of them, `[a-z]`, `[!a]` and `{a,b}` are as in
 * a shell, a backslash takes a character's meaning away; dots at the beginning and parentheses are nothing special.
 * Throws SyntaxError for what is no glob, such as `[z-a]`.
 */
export function globToRegExp(glob: string, { ignoreCase = false } = {}): RegExp {
  const forms = expandBraces(glob).map(translate)
  return new RegExp(`^(?:${forms.join('|')})$`, ignoreCase ? 'isu' : 'su')
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
  const choice = findChoice(glob)
  if (choice === undefined) return [glob]
  const { start, end, options } = choice
  const forms = options.flatMap((option) => expandBraces(glob.slice(0, start) + option + glob.slice(end)))
  if (forms.length > MAX_FORMS) throw new SyntaxError(`more than ${MAX_FORMS} alternatives`)
  return forms
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

function translate(glob: string): string {
  const segments = glob.split('/').filter((segment, i, all) => segment !== '**' || all[i - 1] !== '**')
  const last = segments.length - 1
  return segments.reduce((made, segment, i) => {
    if (segment !== '**') return made + translateSegment(segment) + (i < last ? '/' : '')
    if (i < last) return `${made}(?:[^/]+/)*`
    return i === 0 ? '.*' : `${made.slice(0, -1)}(?:/.*)?`
  }, '')
}

/** A segment is never empty. */
function translateSegment(segment: string): string {
  return `(?=[^/])${(segment.match(TOKEN) ?? []).map(translateToken).join('')}`
}

function translateToken(token: string): string {
  if (token.startsWith('*')) return '[^/]*'
  if (token === '?') return '[^/]'
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
  return `(?!/)[${isNegated ? '^' : ''}${members}]`
}

/** An escaped character, stars, a question mark, a class, any other character. */
const TOKEN = /\\[\s\S]|\*+|\?|\[[!^]?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/gu
const MAX_FORMS = 1_000
