import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { makeHistory } from './history.ts'
import { SET_FILE } from './set.ts'

// npm run bench:set: builds the labeled set of `npm run bench -- relevance` from its scenarios
// (bench/relevance).
const lines = makeHistory().map((session) => `${JSON.stringify(session)}\n`)
const packed = gzipSync(lines.join(''), { level: 9 })
writeFileSync(SET_FILE, packed)
const queries = lines.reduce((sum, line) => sum + JSON.parse(line).queries.length, 0)
console.log(
  `${SET_FILE}: ${lines.length} sessions, ${queries} queries, ${(packed.length / 1e6).toFixed(2)} MB`,
)
