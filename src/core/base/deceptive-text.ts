/**
 * Returns the first character that is invisible or looks like another one: spaces other than U+0020, format
 * characters, characters without a glyph, and three that NFC turns into ASCII. Variation selectors and
 * joiners count, even within emoji.
 */
export function findDeceptive(text: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(text)) return undefined // the pattern below is slow to compile
  return /[[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u037e\u1fef\u212a]--[ ]]/v.exec(text)?.[0]
}

/**
 * Removes the emoji that Unicode recommends for general interchange (UTS #51), including their joiners and
 * variation selectors.
 */
export function withoutEmoji(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : text.replace(/\p{RGI_Emoji}/gv, '')
}
