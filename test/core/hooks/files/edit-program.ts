import { join } from 'node:path'
import { SqliteLeases } from '../../../../src/core/lease/sqlite-leases.ts'
import { fileTools } from '../../../support/file-tools.ts'

/**
 * Appends numbers to its own line of a file, and reads the file again whenever another process was faster.
 */
const [, , cwd = '', name = '', count = ''] = process.argv
const run = join(cwd, 'run')
await using leases = new SqliteLeases({
  database: join(run, 'leases.db'),
  proc: join(run, 'proc'),
  pid: process.pid,
})
const { say } = fileTools(cwd, { leases })

for (let number = 0, line = `${name}:`; number < Number(count); ) {
  const longer = `${line} ${number}`
  const answer = await say('edit', { path: 'file', edits: [{ old: `${line}\n`, new: `${longer}\n` }] })
  if (answer.startsWith('Edited')) {
    line = longer
    number++
  } else if (/you have not read it|it has changed/.test(answer)) await say('read', { path: 'file' })
  else throw new Error(answer)
}
