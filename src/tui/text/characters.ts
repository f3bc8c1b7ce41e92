/** Whether a text is printable ASCII: every character takes one column in any context. */
export function isPlain(text: string): boolean {
  return !/[^ -~]/.test(text)
}

/**
 * Whether every UTF-16 unit of a text is a grapheme of known width in any context: Latin, Greek, Cyrillic,
 * punctuation, arrows, boxes, Han, kana, Hangul syllables. Other characters need the Unicode tables.
 */
export function isSimple(text: string): boolean {
  return !COMPLEX.test(text)
}

/** Returns the columns of a simple character; East Asian characters take two. */
export function simpleWidth(char: string): number {
  return char.charCodeAt(0) < 0x3000 ? 1 : 2
}

const COMPLEX =
  /[^ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0384-\u038a\u038e-\u03a1\u03a3-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u2319\u2500-\u25fc\u2713\u2717\u276f\u2800-\u28ff\u3001-\u3003\u3008-\u3011\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]/
