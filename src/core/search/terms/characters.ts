/** A character that separates words. This and the constants below are the classes of characters. */
export const SEPARATOR = 0
/** A letter that is not upper case, or a mark that belongs to a letter. */
export const LOWER = 1
/** An upper case or title case letter. */
export const UPPER = 2
/** A digit or another numeric character. */
export const DIGIT = 3
/** `_`, `-` or `.`, which may join two words into a name. */
export const JOINER = 4
/** A letter of a script that has no blanks between words. */
export const SIGN = 5
/**
 * A character that may occur inside words but is not part of their terms: accents, soft hyphens, zero-width
 * joiners.
 */
export const IGNORED = 6

/** The classes and folded forms of 256 adjacent characters. */
export interface CharacterPage {
  classes: Uint8Array
  /** The folded form: a code point or, from FIRST_TEXT on, an index into the table's texts. */
  folds: Uint32Array
}

/** The first fold value that stands for several characters. */
export const FIRST_TEXT = 0x11_0000

/**
 * The classes and folded forms of all characters (lower case, compatibility forms, Latin and Greek without
 * accents). They are grouped into pages; each page is computed in about 0.2 ms when a text first needs it.
 */
export class CharacterTable {
  /** The first 128 characters, of which most texts consist; indexed like a page. */
  readonly ascii: CharacterPage = makeAscii()
  /** Folded forms of more than one character, indexed by fold minus FIRST_TEXT. */
  readonly texts: string[] = []
  readonly #pages = new Map<number, CharacterPage>()
  /** The number of the page that was last used. */
  #last = 0
  #lastPage: CharacterPage | undefined

  /** Returns the page of a code point; the lowest 8 bits of the code point are its index there. */
  getPage(code: number): CharacterPage {
    const number = code >>> 8
    if (this.#lastPage !== undefined && number === this.#last) return this.#lastPage
    const page = this.#pages.get(number) ?? this.#makePage(code & ~0xff)
    this.#pages.set(number, page)
    this.#last = number
    this.#lastPage = page
    return page
  }

  #makePage(first: number): CharacterPage {
    const page = { classes: new Uint8Array(256), folds: new Uint32Array(256) }
    for (let i = 0; i < 256; i++) {
      const code = first + i
      if (isSurrogate(code)) continue
      const char = String.fromCodePoint(code)
      page.classes[i] = classifyCharacter(char)
      page.folds[i] = code
      if (isWritten(page.classes[i]!) && !isPlainSign(code)) this.#fold(page, i, char)
    }
    return page
  }

  #fold(page: CharacterPage, i: number, char: string): void {
    const text = foldCharacter(char)
    const [code] = toCodePoints(text)
    if (code === undefined) page.classes[i] = SEPARATOR
    else if (text.length === (code > 0xffff ? 2 : 1)) page.folds[i] = code
    else page.folds[i] = FIRST_TEXT + this.texts.push(text) - 1
  }
}

/**
 * Composes letters with their marks (NFC) and widens half-width Japanese letters. Positions of terms are
 * positions in this form; nearly every text is in it already.
 */
export function composeText(text: string): string {
  if (!LOOSE.test(text)) return text
  return text.normalize('NFC').replaceAll(/[\uff66-\uff9f]+/g, (narrow) => narrow.normalize('NFKC'))
}

/** Whether `composeText` may combine a character with the one in front of it. */
export function isLoose(code: number): boolean {
  if (code < 0x300) return false
  return (
    code <= 0x36f ||
    (code >= 0x1100 && code <= 0x11ff) ||
    (code >= 0x3099 && code <= 0x309a) ||
    (code >= 0xff9e && code <= 0xff9f)
  )
}

const LOOSE = /[\u0300-\u036f\u1100-\u11ff\u3099\u309a\uff9e\uff9f]/

function makeAscii(): CharacterPage {
  const page = { classes: new Uint8Array(128), folds: new Uint32Array(128) }
  for (let code = 0; code < 128; code++) {
    const isUpper = code >= 0x41 && code <= 0x5a
    page.folds[code] = isUpper ? code + 0x20 : code
    if (isUpper) page.classes[code] = UPPER
    else if (code >= 0x61 && code <= 0x7a) page.classes[code] = LOWER
    else if (code >= 0x30 && code <= 0x39) page.classes[code] = DIGIT
    else if (code === 0x5f || code === 0x2d || code === 0x2e) page.classes[code] = JOINER
  }
  return page
}

function classifyCharacter(char: string): number {
  if (!WRITTEN_OR_IGNORED.test(char)) return SEPARATOR
  if (IGNORED_CHARACTER.test(char)) return IGNORED
  if (UNSPACED.test(char)) return SIGN
  if (/\p{N}/u.test(char)) return DIGIT
  return /[\p{Lu}\p{Lt}]/u.test(char) ? UPPER : LOWER
}

const WRITTEN_OR_IGNORED = /[\p{L}\p{N}\p{M}\u00ad\u200c\u2060\ufeff\u200d]/u

/**
 * Accents, Hebrew points, Arabic vowel signs and the tatweel, variation selectors, and invisible characters.
 */
const IGNORED_CHARACTER =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these code points is meant by itself
  /[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\u{e0100}-\u{e01ef}]/u

const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

function isWritten(kind: number): boolean {
  return kind === LOWER || kind === UPPER || kind === DIGIT || kind === SIGN
}

/** Ideographs and Hangul syllables fold to themselves. There are many, so they skip the folding. */
function isPlainSign(code: number): boolean {
  return (code >= 0x3400 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3)
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}

/** Folds through upper case, so that `ß` becomes `ss` and all forms of sigma and of i become one. */
function foldCharacter(char: string): string {
  const letters = char.toUpperCase().toLowerCase().normalize('NFKD').toLowerCase()
  const bare = /^[\p{sc=Latin}\p{sc=Greek}]/u.test(letters)
    ? letters.replaceAll(/[\u0300-\u036f]/g, '')
    : letters
  const folded = bare.normalize('NFKC').replaceAll(/[^\p{L}\p{N}\p{M}]/gu, '')
  return folded.replaceAll(/[øłđðħŧæœþё]/g, (letter) => PLAIN.get(letter)!)
}

/** Letters that Unicode normalization does not decompose. */
const PLAIN: ReadonlyMap<string, string> = new Map(
  Object.entries({ ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', æ: 'ae', œ: 'oe', þ: 'th', ё: 'е' }),
)

function toCodePoints(text: string): number[] {
  return [...text].map((char) => char.codePointAt(0)!)
}
