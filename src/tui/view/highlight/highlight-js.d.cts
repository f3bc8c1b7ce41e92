/**
 * What is used of highlight.js, in the place of its own types (tsconfig.json, `paths`): those bring the browser's types
 * along, for the whole program.
 */
interface Highlighter {
  newInstance(): Highlighter
  registerLanguage(name: string, grammar: (api: unknown) => object): void
  registerAliases(aliases: string | readonly string[], options: { languageName: string }): void
  getLanguage(name: string): object | undefined
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string }
}

declare const highlighter: Highlighter
export = highlighter
