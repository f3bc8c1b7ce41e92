import assert from 'node:assert/strict'
import { test } from 'node:test'
import which from 'which'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'
import { type EverydayPlace, makeEverydayPlace } from '../docs/everyday-place.ts'

/** What has to be undone of the prepared place, for examples that make what is there already. */
const BEFORE: Record<string, string> = {
  'agent create': 'rm ~/.crabtalk/agents/reviewer.*',
  'agent rename': 'rm ~/.crabtalk/agents/critic.*',
  'mcp add': 'rm ~/.crabtalk/agents/crab.*',
  pull: 'crabup rm clock >/dev/null',
  'token revoke': 'crabtalk token new telegram >/dev/null 2>&1',
  'pkg add': 'crabup pkg remove review-kit >/dev/null',
}

const PREPARE = `
set -e
crabtalk send --no-stdin -s notes hello
crabtalk send --no-stdin hello
crabtalk agent create reviewer
crabtalk agent create critic
crabtalk memory remember deploy --alias ship "Every Friday at 10"
crabtalk memory dump brain
crabtalk cron add @daily "Say hello"
crabtalk mcp add --no-verify fs -- npx -y @modelcontextprotocol/server-filesystem ~/notes
crabtalk mcp add --no-verify github -- github-mcp-server
crabtalk mcp add --no-verify everything -- npx -y @modelcontextprotocol/server-everything
crabup pull clock >/dev/null
crabup pkg add --yes ./review-kit >/dev/null
cp -r ~/.crabtalk prepared
crabtalk conversation list --json`

/** Commands whose examples are run elsewhere: they need a screen, or a daemon. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'chat',
  '__complete',
  '<service>',
  'daemon',
  'events',
  'attach',
  'tail',
  'wait',
  'asks',
  'answer',
  'mcp ps',
  'mcp logs',
  'mcp reconnect',
  'mcp trace',
  'self',
])

const commands = [...CRABTALK, ...CRABUP].filter(({ path }) => {
  return !ELSEWHERE.has(path[0]!) && !ELSEWHERE.has(path.join(' '))
})
const examples = commands.flatMap((command) =>
  command.examples.map((line) => ({ line, name: command.path.join(' ') })),
)

test('every example that help gives works', { timeout: 600_000 }, async (t) => {
  await using place = await makeEverydayPlace()
  const { stdout, stderr, code } = await place.shell(PREPARE)
  assert.equal(code, 0, stderr)
  const [, id = ''] = /"id": ".*(.{8})"/.exec(stdout) ?? []
  for (const { line, name } of examples) {
    await t.test(line, async () => {
      const undo = BEFORE[name] ?? ''
      const before = await place.shell(`rm -rf ~/.crabtalk; cp -r prepared ~/.crabtalk; ${undo}`)
      assert.deepEqual([before.code, before.stderr], [0, ''])
      const here = line
        .replaceAll('8Z4K2M0Q', id)
        .replaceAll(/https:\S+example\.com\S*/g, place.env['DOCS_URL']!)
      const finished = await runLine(place, atHome(here, place.user))
      assert.deepEqual([finished.code, finished.stderr.includes('error[')], [0, false], finished.stderr)
    })
  }
})

test('every example in the help of chat opens one', async () => {
  await using place = await makeEverydayPlace()
  await place.shell('crabtalk agent create reviewer')
  for (const line of CRABTALK.find(({ path }) => path[0] === 'chat')!.examples) {
    const terminal = place.terminalShell(line)
    await terminal.shows(/--new/.test(line) ? /Ready\.[\s\S]*Ask anything/ : /Ask anything/)
    terminal.type('\x04')
    assert.equal((await terminal.finished).code, 0, line)
  }
})

/** Runs a line in bash, as help says it; a stage of a pipe whose program is not installed here is left out. */
async function runLine(place: EverydayPlace, line: string) {
  const stages = await Promise.all(
    line.split(' | ').map(async (stage, index) => {
      const [program = ''] = stage.split(' ')
      const isHere = program !== 'jq' || (await which(program, { nothrow: true })) !== null
      return isHere ? stage : index === 0 ? `echo '{"a":2,"b":3}'` : 'cat'
    }),
  )
  const script = `set -o pipefail; ${stages.join(' | ')}`
  const shell = (await which('bash', { nothrow: true })) ?? 'sh'
  return await place.shell(`exec ${shell} -c '${script.replaceAll("'", "'\\''")}'`)
}

/** A line with this directory instead of `/home/me`; outside of quotes its spaces are escaped. */
function atHome(line: string, user: string): string {
  const escaped = user.replaceAll(' ', '\\ ')
  return line.replaceAll(/'[^']*'|[^']+/g, (part) =>
    part.replaceAll('/home/me', part.startsWith("'") ? user : escaped),
  )
}
