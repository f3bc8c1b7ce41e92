import { quoteWord } from './quote-word.ts'

/** Returns the options that allow rules for one turn, to be pasted into a shell: `--allow 'bash(npm test *)'`. */
export function allowOptions(rules: readonly string[]): string {
  return rules.map((rule) => `--allow ${quoteWord(rule)}`).join(' ')
}
