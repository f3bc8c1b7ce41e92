/**
 * Whether a value is a placeholder still to be filled in: `${GITHUB_TOKEN}`, `<YOUR_KEY>`,
 * `your-api-key-here`, `sk-xxxx`, also after `Bearer`. Such a value is not a secret: it is shown, and it is
 * sent as it is.
 */
export function isUnfilled(value: string): boolean {
  if (value.length > MAX_LENGTH) return false
  const word = value.trim().replace(/^(?:bearer|basic|token) +/i, '')
  return VARIABLE.test(word) || TO_FILL_IN.test(word)
}

/** Returns the first placeholder in a text, which may be the whole text; undefined when there is none. */
export function findPlaceholder(text: string): string | undefined {
  const word = text.trim()
  if (isUnfilled(word)) return word.replace(/^(?:bearer|basic|token) +/i, '')
  return SOMEWHERE.exec(text.slice(0, MAX_TEXT))?.[0]
}

const NAME = '[A-Za-z_][\\w.]{0,80}'
/**
 * A variable of a shell, a template or another program's configuration. A variable with a default does not
 * match, because the default may be secret.
 */
const VARIABLE = new RegExp(
  `^(?:\\$\\{${NAME}(?::-)?\\}|\\$\\{[a-z]{1,16}:[\\w.:-]{1,80}\\}|\\$[A-Z_][A-Z\\d_]{1,80}|\\{\\{ ?${NAME} ?\\}\\}|\\$\\{\\{[^{}]{1,80}\\}\\}|%[A-Z_][A-Z\\d_]{0,80}%)$`,
)
const TO_FILL_IN =
  /^(?:<[a-z][\w .'/-]{0,80}>|\[your[\w .-]{0,80}\]|(?:[a-z]{2,10}[-_])?(?:your|insert|enter|put|replace|paste)[-_ ][\w .-]{0,60}(?:key|token|secret|password|credentials?|pat|id|here|value|this)|(?:[a-z]{2,10}[-_]){0,2}[x*.\u2022\u2026][x*.\u2022\u2026-]{2,}|change[-_ ]?me|replace[-_ ]?me|todo)$/i
const SOMEWHERE = new RegExp(
  `\\$\\{${NAME}(?::-[^{}]{0,80})?\\}|\\$\\{(?:input|env|secret|var):[\\w.:-]{1,80}\\}|<YOUR[\\w .-]{0,80}>|\\bYOUR_[A-Z\\d_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|ID|HERE)\\b`,
)
const MAX_LENGTH = 120
const MAX_TEXT = 64 * 1024
