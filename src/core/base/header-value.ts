/**
 * Whether a text can be the value of an HTTP header; Node refuses to send anything else (RFC 9110, section
 * 5.5).
 */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

/**
 * The reason why a key cannot be a header value, as the end of a sentence that begins with the name of the
 * key.
 */
export const NOT_A_HEADER_VALUE =
  'holds a character that no HTTP header takes, such as … or a typographic quote: paste the key itself'
