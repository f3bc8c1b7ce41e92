import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pick, type Random } from '../random.ts'
import { fillSlots, type Turn } from './scenarios.ts'

/** The content of everyday conversations: exchanges by topic, with words to fill in. */
export interface Filler {
  topics: readonly string[]
  exchange(topic: string, random: Random): Turn[]
}

/**
 * Reads `filler/lines.txt` (topics, questions and answers with `{slots}`) and `filler/words.txt` (the words
 * that fill them).
 */
export function readFiller(): Filler {
  const read = (file: string) => readFileSync(join(import.meta.dirname, 'filler', file), 'utf8').trim()
  const words = new Map(read('words.txt').split('\n').map(toWords))
  const pairs = new Map(read('lines.txt').split(/^# /m).slice(1).map(toExchanges))
  const exchange = (topic: string, random: Random): Turn[] => {
    const slots = drawSlots(words, random)
    const turns = pick(random, pairs.get(ALIKE[topic] ?? topic)!)
    return turns
      .map(({ by, text }) => ({ by, text: fillSlots(text, slots) }))
      .concat(codeSometimes(slots, random))
  }
  return { topics: [...pairs.keys()], exchange }
}

/** Topics that use the exchanges of another topic. */
const ALIKE: Readonly<Record<string, string>> = {
  cooking: 'home',
  health: 'people',
  work: 'people',
  hobby: 'people',
  learning: 'travel',
}

function toWords(line: string): [name: string, words: string[]] {
  const [name = '', list = ''] = line.split(': ')
  return [name, list.split(' ')]
}

function toExchanges(block: string): [topic: string, exchanges: Turn[][]] {
  const [topic = '', ...lines] = block.trim().split('\n')
  const exchanges = lines.flatMap((line, at) => {
    const answer = lines[at + 1]
    if (!line.startsWith('U ') || answer === undefined) return []
    return [
      [{ by: 'user', text: line.slice(2) } as const, { by: 'assistant', text: answer.slice(2) } as const],
    ]
  })
  return [topic.trim(), exchanges]
}

/** Draws the words of one exchange; the noun is the same in both spellings. */
function drawSlots(words: ReadonlyMap<string, string[]>, random: Random): Map<string, string> {
  const slots = new Map([...words].map(([name, list]) => [name, pick(random, list)]))
  return slots.set('noun', slots.get('Noun')!.toLowerCase())
}

/** Adds, to one exchange in eight, a tool call that writes code and its result. */
function codeSometimes(slots: ReadonlyMap<string, string>, random: Random): Turn[] {
  if (random() > 1 / 8) return []
  const [verb, Noun, noun] = [slots.get('verb')!, slots.get('Noun')!, slots.get('noun')!]
  const lines = Array.from({ length: 4 + Math.floor(random() * 12) }, (_, at) =>
    pick(random, [
      `  const ${noun}${at} = await ${verb}${Noun}(${noun}, signal)`,
      `  if (${noun}.length === 0) return undefined`,
      `  for (const ${noun} of ${noun}s) ${verb}${Noun}(${noun})`,
      `  log.info('${noun} ${verb}', { count: ${at * 7} })`,
    ]),
  )
  const code = `export function ${verb}All${Noun}s() {\n${lines.join('\n')}\n}`
  const path = `src/${noun}/${verb}-${noun}.ts`
  return [
    { by: 'call', text: `write ${JSON.stringify({ path, content: code })}` },
    { by: 'result', text: `wrote ${path}` },
  ]
}
