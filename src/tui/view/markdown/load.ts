import { setImmediate } from 'node:timers/promises'
import type { ParseMarkdown } from '../view.ts'

/** Loads the Markdown parser, about 15 ms that the first frame does not wait for. */
export async function loadMarkdown(): Promise<ParseMarkdown> {
  const { Lexer } = await import('marked')
  return (text) => Lexer.lex(text)
}

/**
 * Warms the parser up: lets V8 compile its regular expressions one at a time, for one-byte and two-byte
 * strings, and yields to the event loop in between. Together they take 50 ms, which would otherwise delay the
 * first answer.
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
