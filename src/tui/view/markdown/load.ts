import { setImmediate } from 'node:timers/promises'
import type { ParseMarkdown } from '../view.ts'

/** Loads the Markdown parser: some 15 ms that the first frame need not wait for. */
export async function loadMarkdown(): Promise<ParseMarkdown> {
  const { Lexer } = await import('marked')
  return (text) => Lexer.lex(text)
}

/**
 * Lets V8 compile the parser's expressions, one after the other, for both of its kinds of strings, and does what waits
 * in between: together they take 50 ms, in the middle of the first answer otherwise.
 */
export async function warmMarkdown(): Promise<void> {
  const { Lexer } = await import('marked')
  const { block, inline } = Lexer.rules
  const rules: unknown[] = [...Object.values(block.gfm), ...Object.values(inline.gfm)]
  for (const sample of ['a', '…']) {
    for (const rule of rules) {
      if (!(rule instanceof RegExp)) continue
      rule.test(sample)
      rule.lastIndex = 0
      await setImmediate()
    }
    Lexer.lex(`${sample} *b*\n\n- c`)
  }
}
