/**
 * Parses JSON with comments and trailing commas, as editors write it, also inside a Markdown code fence. A
 * text that begins with a key (`"name": {…}`) is read as the content of an object.
 *
 * Throws a SyntaxError, whose message may quote the text.
 */
export function parseJsonc(text: string): unknown {
  const bare = withoutFence(text.replace(/^\uFEFF/, ''))
  const json = bare.replace(COMMENTS, keepStrings).replace(TRAILING_COMMAS, keepStrings).trim()
  return JSON.parse(STARTS_WITH_KEY.test(json) ? `{${json.replace(/,$/, '')}}` : json)
}

/** Whether a text is JSON rather than TOML, judging by its first characters after comments. */
export function looksLikeJson(text: string): boolean {
  const bare = withoutFence(text.replace(/^\uFEFF/, '')).replace(COMMENTS, keepStrings)
  return /^\s*(?:\{|\[\s*[{\]]|"(?:\\.|[^"\\])*"\s*:)/.test(bare)
}

function withoutFence(text: string): string {
  return /^\s*```\w*\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text
}

/** Replaces a match by spaces of the same length, so that positions in errors stay right. */
function keepStrings(match: string): string {
  return match.startsWith('"') ? match : match.replace(/[^\n]/g, ' ')
}

const STRING = '"(?:\\\\[\\s\\S]|[^"\\\\])*"'
const COMMENTS = new RegExp(`${STRING}|//[^\\n]*|/\\*[\\s\\S]*?\\*/`, 'g')
const TRAILING_COMMAS = new RegExp(`${STRING}|,(?=\\s*[}\\]])`, 'g')
const STARTS_WITH_KEY = new RegExp(`^${STRING}\\s*:`)
