/** A text that a shell passes on unchanged, and the number of characters of the line that spell it. */
export interface QuotedDocument {
  text: string
  length: number
}

/**
 * Reads `"$(cat <<'EOF' … EOF)"`, the way to write a text of several lines as one word. Returns undefined for
 * anything else at this index, and for a text of which an old shell could see another end.
 *
 * Bash before version 4 looks for the closing parenthesis without knowing here-documents (ADR 0207).
 */
export function readDocument(line: string, at: number): QuotedDocument | undefined {
  DOCUMENT.lastIndex = at
  const [whole, , body] = DOCUMENT.exec(line) ?? []
  if (whole === undefined || body === undefined) return undefined
  const rest = line.slice(at + whole.length)
  const hasQuotes = /["'`$\\]/.test(body)
  const isBalanced = !/[()]/.test(removePairs(body))
  const isCertain = isBalanced && (!hasQuotes || !/["'`$\\()]/.test(rest))
  return isCertain ? { text: body.replace(/\n+$/, ''), length: whole.length } : undefined
}

/** Removes parentheses that every shell sees as pairs: on one line, with nothing special in them. */
function removePairs(text: string): string {
  const shorter = text.replace(PAIR, '')
  return shorter === text ? text : removePairs(shorter)
}

/**
 * Matches the whole word. No line of the body begins with the delimiter, which could end the document, or ends
 * with a backslash, which could hide the delimiter.
 */
const DOCUMENT = /"\$\(cat[ \t]*<<[ \t]*'(\w+)'\n((?:(?!\1)[^\n]*(?<!\\)\n)*)\1\n[ \t\n]*\)"/y

const PAIR = /(?<!\\)\([^()"'`$\\#{}\n]*\)/g
