/** Returns the first `length` UTF-16 units of a text, or one less if that would split a surrogate pair. */
export function takeStart(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

/** Returns the last `length` UTF-16 units of a text, or one less if that would split a surrogate pair. */
export function takeEnd(text: string, length: number): string {
  return text.slice(Math.max(0, text.length - length)).replace(/^[\udc00-\udfff]/, '')
}
