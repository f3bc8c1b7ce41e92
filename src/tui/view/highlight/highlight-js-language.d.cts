/** A grammar of highlight.js. */
declare function grammar(api: unknown): object
export = grammar
