import { writeSync } from 'node:fs'
import { silentLog } from '../../src/core/base/log.ts'
import { makeHeader, toLine } from '../core/storage/samples.ts'
import { openSearchHome } from './search-home.ts'
import { wordSource } from './search-words.ts'

/**
 * A process that writes conversations and a memory until it is killed: `HOME ROUND`. It prints a line of JSON,
 * a DurableReport, for each durable change, and one before it removes a note.
 */
const [home = '', round = '0'] = process.argv.slice(2)
const { storage, index, memory } = openSearchHome(home, { isDaemon: true, log: silentLog })
const never = new AbortController().signal
const newWord = wordSource(Number(round))

index.warm()
await Promise.all([converse(), converse(), remember()])

/** Writes new conversations and appends to them, some with long other text. */
async function converse(): Promise<void> {
  for (;;) {
    const word = newWord()
    const { id, cursor } = await storage.createSession(makeHeader(), [toLine(`it begins with ${word}`)])
    tell({ session: id, word })
    let at = cursor
    for (let line = 0; line < 6; line++) {
      const next = newWord()
      const filling = 'of other things there is much to say '.repeat(line % 3 === 0 ? 200 : 1)
      at = await storage.append(id, at, [toLine(`${filling} ${next}`, 'assistant')])
      tell({ session: id, word: next })
    }
    await index.search({ text: 'other things', limit: 5, contextBefore: 1, contextAfter: 1 }, never)
    tell({ searched: true })
  }
}

/** Writes and changes notes, and removes some. */
async function remember(): Promise<void> {
  for (let count = 1; ; count++) {
    const name = `note ${newWord()}`
    const rest = { name, aliases: [`alias of ${name}`] }
    await memory.apply('crab', { op: 'add', ...rest, content: 'first', kind: 'note', createdAt: 1n }, never)
    tell({ name, content: 'first' })
    await memory.apply('crab', { op: 'update', ...rest, content: 'second' }, never)
    tell({ name, content: 'second' })
    if (count % 2 === 0) continue
    tell({ going: name })
    await memory.apply('crab', { op: 'remove', name }, never)
    tell({ gone: name })
  }
}

function tell(what: object): void {
  writeSync(1, `${JSON.stringify(what)}\n`)
}
