/** Returns a generator of unique words; sources with different numbers share none. */
export function wordSource(number: number): () => string {
  let count = 0
  return () => `q${inLetters(number)}xx${inLetters(count++)}q`
}

function inLetters(number: number): string {
  return number.toString(LETTERS.length).replace(/./g, (digit) => LETTERS[Number.parseInt(digit, 36)]!)
}

/** All letters but the separator of the parts. */
const LETTERS = 'abcdefghijklmnoprstuvwyz'
