/**
 * Wraps text of an untrusted author in a tag that the text can neither close nor reopen.
 *
 * Inside the text the `<` of such a tag becomes `&lt;`: in any case, with blanks, slashes or invisible
 * characters between its letters, and for the full-width forms of `<`. Attribute values cannot end their
 * quotes or their line.
 */
export function wrapInTag(tag: string, attributes: Readonly<Record<string, string>>, text: string): string {
  const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`)
  return `<${tag}${pairs.join('')}>\n${escapeTag(tag, text)}\n</${tag}>`
}

/**
 * Escapes a text so that this tag neither begins nor ends in it. `tag` consists of letters, digits, `_` and
 * `-`.
 */
export function escapeTag(tag: string, text: string): string {
  const name = [...tag].join(`[${INVISIBLE}]*`)
  return text.replaceAll(
    new RegExp(`[${LESS_THAN}](?=[${BEFORE_NAME}]*${name}(?![\\p{L}\\p{N}_-]))`, 'giu'),
    '&lt;',
  )
}

function escapeAttribute(value: string): string {
  return value.replaceAll(UNSAFE_IN_ATTRIBUTE, (char) => `&#${char.codePointAt(0)};`)
}

/** `<` and its compatibility forms. */
const LESS_THAN = '<\\ufe64\\uff1c'
/** Invisible characters, which may be hidden in a tag name. */
const INVISIBLE =
  '\\0-\\x08\\x0e-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\u{e0000}-\\u{e0fff}'
const BEFORE_NAME = `${INVISIBLE}\\s/\\u2044\\u2215\\uff0f`
// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern exists to match control characters
const UNSAFE_IN_ATTRIBUTE = /["<>\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
