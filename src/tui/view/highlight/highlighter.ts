import core from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import lua from 'highlight.js/lib/languages/lua'
import makefile from 'highlight.js/lib/languages/makefile'
import markdown from 'highlight.js/lib/languages/markdown'
import php from 'highlight.js/lib/languages/php'
import powershell from 'highlight.js/lib/languages/powershell'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import shell from 'highlight.js/lib/languages/shell'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { Highlight } from '../view.ts'
import { ScopePainter } from './scopes.ts'

/** Longer code is not colored: some grammars are slow on unexpected input. */
const MAX_CHARS = 20_000

/** Creates a function that colors code in the languages of LANGUAGES, by name or common alias. */
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

/** The supported languages. `ini` includes TOML, `xml` includes HTML and SVG. */
export const LANGUAGES: Readonly<Record<string, (api: unknown) => object>> = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  powershell,
  python,
  ruby,
  rust,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
}
