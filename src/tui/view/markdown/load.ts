import type { ParseMarkdown } from '../view.ts'

/** Loads the Markdown parser: some 15 ms that the first frame need not wait for. */
export async function loadMarkdown(): Promise<ParseMarkdown> {
  const { Lexer } = await import('marked')
  return (text) => Lexer.lex(text)
}
