import core from 'highlight.js/lib/core'
import type { Highlight } from '../view.ts'
import { LANGUAGES } from './languages.ts'
import { ScopePainter } from './scopes.ts'

/** Longer code is not coloured: some grammars are slow on unexpected input. */
const MAX_CHARS = 20_000

/** Creates a function that colours code in the languages of languages.ts, by name or common alias. */
export function makeHighlight(): Highlight {
  const highlighter = core.newInstance()
  highlighter.configure({ __emitter: ScopePainter })
  for (const [name, grammar] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, grammar)
  highlighter.registerAliases(['console', 'terminal'], { languageName: 'shell' })
  highlighter.registerAliases(['json5', 'jsonl'], { languageName: 'json' })
  return (code, language) => {
    const name = language.toLowerCase()
    if (code.length > MAX_CHARS || highlighter.getLanguage(name) === undefined) return undefined
    const { value, errorRaised } = highlighter.highlight(code, { language: name, ignoreIllegals: true })
    return (errorRaised ? code : value).split('\n')
  }
}
