/**
 * The parts of highlight.js that are used. They replace its own types (tsconfig.json, `paths`), which would add the
 * browser's types to the whole program.
 */
interface Highlighter {
  newInstance(): Highlighter
  /** `__emitter` is the class that receives the tokens, private in its types but documented in its source. */
  configure(options: { __emitter: new () => object }): void
  registerLanguage(name: string, grammar: (api: unknown) => object): void
  registerAliases(aliases: string | readonly string[], options: { languageName: string }): void
  getLanguage(name: string): object | undefined
  highlight(
    code: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { value: string; errorRaised?: unknown }
}

declare const highlighter: Highlighter
export = highlighter
