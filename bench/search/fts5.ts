import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Found, LIMIT, type OpenEngine } from './engine.ts'

/** The number of documents per transaction while building. */
const BATCH = 2500

/**
 * Opens SQLite's FTS5 on a file, with its own tokenizer and ranking (BM25 without our weights) and without
 * stored text.
 *
 * Documents are added in transactions of BATCH; after `settle`, each in its own, like messages in practice.
 */
export const openFts5: OpenEngine = async ({ scratch, saved }) => {
  const file = join(scratch, 'fts5.db')
  if (saved !== undefined) copyFileSync(join(saved, 'fts5.db'), file)
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536')
  if (saved === undefined) {
    database.exec("CREATE VIRTUAL TABLE texts USING fts5(text, content = '')")
    database.exec('CREATE TABLE rows(id INTEGER PRIMARY KEY, session INT, seq INT, kind INT)')
  }
  const addText = database.prepare('INSERT INTO texts(rowid, text) VALUES (?, ?)')
  const addRow = database.prepare('INSERT INTO rows VALUES (?, ?, ?, ?)')
  const find = database.prepare(
    `SELECT session, seq, kind, -rank AS score FROM (SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ${LIMIT})
     JOIN rows ON id = rowid`,
  )
  let next = 1
  let inBatch = 0
  let isBuilt = saved !== undefined
  return {
    add({ session, seq, kind, text }) {
      if (inBatch === 0) database.exec('BEGIN')
      inBatch++
      addText.run(next, text)
      addRow.run(next++, session, seq, kind)
      if (!isBuilt && inBatch < BATCH) return
      database.exec('COMMIT')
      inBatch = 0
    },
    async settle() {
      if (inBatch > 0) database.exec('COMMIT')
      inBatch = 0
      isBuilt = true
    },
    close: async () => database.close(),
    search: (text) => find.all(toMatch(text)).map((row) => ({ ...(row as unknown as Found) })),
    async save(folder) {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      copyFileSync(file, join(folder, 'fts5.db'))
      return statSync(file).size
    },
    bytesBeside: () => 0,
  }
}

/** Builds a query that matches any of the words. */
function toMatch(text: string): string {
  return text
    .split(' ')
    .map((word) => `"${word}"`)
    .join(' OR ')
}
