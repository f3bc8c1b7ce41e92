import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type End, ROWS, type Row } from '../support/hostile-calls.ts'
import { makeTalk, type Talk } from '../support/talk.ts'

interface Outcome {
  end: End
  output: string
}

const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())
const places = once(makePlaces)

for (const row of ROWS) {
  test(`${row.tool}: ${row.what}: ${row.end}`, async () => {
    const { end, output } = (await runRows(row)).get(row)!
    assert.equal(end, row.end, output)
    if (row.says) assert.match(output, row.says)
  })
}

test('no call had an effect that was not permitted', async () => {
  const { talk, outside } = await places()
  for (const row of ROWS) await runRows(row)
  assert.equal(existsSync(join(talk.cwd, 'pwned')), false)
  assert.equal(existsSync(join(outside, 'made.txt')), false)
  assert.equal(await readFile(join(outside, 'secret.txt'), 'utf8'), 'secret\n')
  assert.equal(await readFile(join(talk.cwd, 'a.txt'), 'utf8'), 'hello\n')
  assert.equal(existsSync(join(talk.cwd, 'made.txt')), false)
})

const runs = new Map<string, Promise<Map<Row, Outcome>>>()

/** Returns the outcomes of all rows with these flags, from one turn whose first step makes all calls together. */
function runRows(row: Row): Promise<Map<Row, Outcome>> {
  const key = JSON.stringify(row.flags ?? [])
  const known = runs.get(key)
  if (known) return known
  const rows = ROWS.filter(({ flags = [] }) => JSON.stringify(flags) === key)
  const outcomes = callAll(rows)
  runs.set(key, outcomes)
  return outcomes
}

let replies: Row[] = []

async function callAll(rows: readonly Row[]): Promise<Map<Row, Outcome>> {
  const { talk, fill } = await places()
  await turns
  const run = async () => {
    replies = rows.map((row) => ({ ...row, args: fill(row.args) }))
    const flags = (rows[0]!.flags ?? []).map((flag) => String(fill(flag)))
    return await talk.send(['--output', 'stream-json', '--on-ask', 'deny', ...flags, 'go'])
  }
  const finished = run()
  turns = finished.catch(() => undefined)
  return toOutcomes(rows, (await finished).stdout)
}

/** Serializes the turns, which share one script of replies. */
let turns: Promise<unknown> = Promise.resolve()

function toOutcomes(rows: readonly Row[], stdout: string): Map<Row, Outcome> {
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const outcomes = new Map<Row, Outcome>()
  for (const { type, id, output, is_error: isError, denial } of records) {
    if (type !== 'tool.result') continue
    outcomes.set(rows[Number(id)]!, { end: denial ? 'denied' : isError ? 'failed' : 'done', output })
  }
  return outcomes
}

interface Places {
  talk: Talk
  outside: string
  /** Replaces the placeholders for folders in a row. */
  fill(value: unknown): unknown
}

async function makePlaces(): Promise<Places> {
  const talk = stack.use(
    await makeTalk(({ json }) => {
      const isAnswered = JSON.stringify(json['messages']).includes('"role":"tool"')
      if (isAnswered) return { parts: ['Done.'] }
      return {
        parts: replies.map(({ tool, args }, at) => ({
          call: String(at),
          name: tool,
          args: JSON.stringify(args),
        })),
      }
    }),
  )
  const outside = join(talk.cwd, '../outside')
  await fillFolders(talk, outside)
  const fill = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll('$OUT', outside).replaceAll('$HOME_DIR', talk.home))
  return { talk, outside, fill }
}

async function fillFolders({ cwd, home }: Talk, outside: string): Promise<void> {
  const at = (name: string) => join(cwd, name)
  await Promise.all([outside, at('sub'), at('src')].map((path) => mkdir(path)))
  await writeFile(join(outside, 'secret.txt'), 'secret\n')
  await writeFile(at('a.txt'), 'hello\n')
  await writeFile(at('b.txt'), 'b\n')
  await writeFile(at('new\nline'), 'odd\n')
  await writeFile(at('caf\u00e9'), 'composed\n')
  await writeFile(at('binary'), Buffer.from([1, 0, 2, 0, 3]))
  await writeFile(at('huge'), '')
  await truncate(at('huge'), 100_000_000)
  execFileSync('mkfifo', [at('fifo')])
  const links = {
    'link-in': 'a.txt',
    'link-out': join(outside, 'secret.txt'),
    'link-chain': 'link-out',
    'dir-out': outside,
    dangling: join(outside, 'made.txt'),
    loop: 'loop',
    'link-config': join(home, 'config.toml'),
  }
  await Promise.all(Object.entries(links).map(([name, target]) => symlink(target, at(name))))
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
