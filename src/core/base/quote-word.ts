/** Quotes a text so that a shell reads it as one word; a word without special characters stays as it is. */
export function quoteWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
