/**
 * Finds the first character that looks like another one or like nothing: other spaces, format characters, characters
 * without a shape, and three that NFC turns into ASCII. Variation selectors and joiners are among them, also in emoji.
 */
export function findDeceptive(text: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(text)) return undefined // the other pattern is slow to compile
  return /[[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u037e\u1fef\u212a]--[ ]]/v.exec(text)?.[0]
}

/** Removes emoji as Unicode recommends them for interchange (UTS 51), with the joiners and selectors that they are made of. */
export function withoutEmoji(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : text.replace(/\p{RGI_Emoji}/gv, '')
}
