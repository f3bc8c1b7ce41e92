import assert from 'node:assert/strict'
import { chmod, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toUpHost } from '../../../src/up/host.ts'
import { readJournal } from '../../../src/up/logs/journal.ts'

const NEVER = new AbortController().signal
const SERVICES = new Map([['ai.crabtalk.daemon', 'daemon']])
/** Lines as journalctl 252 prints them with --output=json. */
const ROWS = [
  '{"__CURSOR":"s=1;i=1","__REALTIME_TIMESTAMP":"1767323045678901","PRIORITY":"6","USER_UNIT":"ai.crabtalk.daemon.service","MESSAGE":"Started it."}',
  '{"__CURSOR":"s=1;i=2","__REALTIME_TIMESTAMP":"1767323046000000","PRIORITY":"4","USER_UNIT":"ai.crabtalk.daemon.service","MESSAGE":"Main process exited, code=killed"}',
  '{"__CURSOR":"s=1;i=3","__REALTIME_TIMESTAMP":"1767323047000000","PRIORITY":"3","_SYSTEMD_USER_UNIT":"ai.crabtalk.daemon.service","MESSAGE":[98,105,110]}',
  '{"__CURSOR":"s=1;i=4","USER_UNIT":"other.service","MESSAGE":"x"}',
]

test('readJournal() asks for the lines of units, and continues after the last one', async () => {
  await using place = await makeJournal(`printf '%s\\n' '${ROWS.join("' '")}'`)
  const filter = { services: SERVICES, lines: 5, since: 1_767_323_000_500 }
  const { entries, cursor } = await readJournal(place.host, filter, NEVER)
  assert.deepEqual(
    entries.map(({ service, source, time, level, message }) => ({ service, source, time, level, message })),
    [
      { service: 'daemon', source: 'journal', time: 1767323045678, level: 'info', message: 'Started it.' },
      {
        ...{ service: 'daemon', source: 'journal', time: 1767323046000 },
        ...{ level: 'warn', message: 'Main process exited, code=killed' },
      },
    ],
  )
  assert.equal(cursor, 's=1;i=2')
  const first = await place.asked()
  assert.match(first, /--user-unit=ai\.crabtalk\.daemon\.service/)
  assert.match(first, /--since=@1767323000 .*--lines=5/)
  await readJournal(place.host, { services: SERVICES, lines: 5, since: undefined, cursor: 's=1;i=2' }, NEVER)
  const second = (await place.asked()).slice(first.length)
  assert.match(second, /--after-cursor=s=1;i=2/)
  assert.doesNotMatch(second, /--lines/)
  await readJournal(place.host, { services: SERVICES, lines: undefined, since: 5 }, NEVER)
  assert.match((await place.asked()).slice(first.length + second.length), /--lines=1500/)
})

test('readJournal() returns nothing without a journal, and does not ask about an empty list', async () => {
  await using failing = await makeJournal('echo "No journal files were found." >&2; exit 1')
  const filter = { services: SERVICES, lines: 5, since: undefined }
  assert.deepEqual(await readJournal(failing.host, filter, NEVER), { entries: [], cursor: undefined })
  await using none = await makeJournal(undefined)
  assert.deepEqual(await readJournal(none.host, filter, NEVER), { entries: [], cursor: undefined })
  await readJournal(failing.host, { ...filter, services: new Map() }, NEVER)
  assert.equal((await failing.asked()).split('\n').length, 2)
})

/** Returns a PATH with a journalctl that records its arguments. */
async function makeJournal(line: string | undefined) {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const file = join(dir.path, 'journalctl')
  const record = join(dir.path, 'asked')
  if (line !== undefined) {
    await writeFile(file, `#!/bin/sh\necho "$*" >>'${record}'\n${line}\n`)
    await chmod(file, 0o755)
  }
  const env = { PATH: line === undefined ? dir.path : `${dir.path}:/usr/bin:/bin` }
  return {
    host: toUpHost({ env, pid: process.pid, uid: 0, homeDir: '' }),
    asked: () => readFile(record, 'utf8'),
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}
