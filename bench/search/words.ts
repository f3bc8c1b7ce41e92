import { between, pick, type Random, seeded } from '../random.ts'

/** The words of the corpus, most frequent first, and a way to draw one. */
export interface Vocabulary {
  words: readonly string[]
  draw(random: Random): string
}

const SIZE = 250_000
/** The number of words made of syllables; the others join two of those, like domain terms and identifiers. */
const SIMPLE = 60_000
const ONSETS =
  'b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p ph pl pr qu r s sc sh sl sp st str t th tr v w y z'
const VOWELS = 'a e i o u ai ea ee ia io oa ou'
const CODAS = ' b ck d f g l ll m n nd ng nt p r rd rk rm rt s ss st t th x'

/** Creates 250,000 words without a word list, deterministically, drawn with a Zipf-Mandelbrot distribution. */
export function makeVocabulary(): Vocabulary {
  const words = makeWords(seeded(77))
  const { share, alias } = aliasTable(words.length)
  const draw = (random: Random) => {
    const at = Math.floor(random() * words.length)
    return words[random() < share[at]! ? at : alias[at]!]!
  }
  return { words, draw }
}

function makeWords(random: Random): string[] {
  const [onsets, vowels, codas] = [ONSETS, VOWELS, CODAS].map((list) => list.split(' '))
  const words = new Set<string>()
  const syllable = () => pick(random, onsets!) + pick(random, vowels!) + pick(random, codas!)
  while (words.size < SIMPLE) {
    // frequent words are short
    const syllables = words.size < 300 ? 1 : 1 + Math.floor(random() * (words.size < 8000 ? 2.4 : 3.4))
    words.add(Array.from({ length: syllables }, syllable).join(''))
  }
  const simple = [...words]
  while (words.size < SIZE) {
    const [first, second] = [simple[between(random, 50, 6000)]!, simple[between(random, 50, 20_000)]!]
    words.add(first + pick(random, ['', '_', '-', '.']) + second)
  }
  return [...words]
}

/** Builds a table for weighted draws in constant time (the alias method of Walker and Vose). */
function aliasTable(size: number): { share: Float64Array; alias: Uint32Array } {
  const weights = Float64Array.from({ length: size }, (_, rank) => 1 / (rank + 3.7) ** 1.05)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const share = weights.map((weight) => (weight / sum) * size)
  const alias = new Uint32Array(size)
  const [small, large]: [number[], number[]] = [[], []]
  for (let at = 0; at < size; at++) (share[at]! < 1 ? small : large).push(at)
  while (small.length > 0 && large.length > 0) {
    const [less, more] = [small.pop()!, large.pop()!]
    alias[less] = more
    share[more] = share[more]! + share[less]! - 1
    ;(share[more]! < 1 ? small : large).push(more)
  }
  for (const at of [...small, ...large]) share[at] = 1
  return { share, alias }
}
