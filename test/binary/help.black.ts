import assert from 'node:assert/strict'
import { test } from 'node:test'
import which from 'which'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'
import { type ExampleSandbox, makeExampleSandbox } from '../docs/example-sandbox.ts'

/** Shell commands that remove what PREPARE made, for examples that create the same thing. */
const UNDO: Record<string, string> = {
  'agent create': 'rm ~/.crabtalk/agents/reviewer.*',
  'agent rename': 'rm ~/.crabtalk/agents/critic.*',
  'mcp add': 'rm ~/.crabtalk/agents/crab.*',
  pull: 'crabup rm clock >/dev/null',
  'vault init': 'rm ~/.crabtalk/vault',
  'token revoke': 'crabtalk token new telegram >/dev/null 2>&1',
  'policy remove': `crabtalk policy add 'bash(npm test *)' >/dev/null`,
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
printf 'ghp_example' | crabtalk vault set GITHUB_TOKEN 2>/dev/null
crabup pull clock >/dev/null
crabup pkg add --yes ./review-kit >/dev/null
cp -r ~/.crabtalk prepared
crabtalk conversation list --json`

/** Commands whose examples other tests run, because they need a terminal, a daemon, or a provider. */
const TESTED_ELSEWHERE: ReadonlySet<string> = new Set([
  'chat',
  '__complete',
  'connect',
  'model use',
  '<service>',
  'daemon',
  'events',
  'attach',
  'tail',
  'wait',
  'asks',
  'answer',
  'config edit',
  'mcp ps',
  'mcp login',
  'mcp logout',
  'mcp logs',
  'mcp reconnect',
  'mcp token',
  'mcp trace',
  'vault key',
  'vault set',
  'vault rotate-key',
  'self',
])

/** Examples that ask at a terminal; session-servers.black.ts runs them. */
const ASKING: ReadonlySet<string> = new Set(['crabtalk trust'])

const commands = [...CRABTALK, ...CRABUP].filter(({ path }) => {
  return !TESTED_ELSEWHERE.has(path[0]!) && !TESTED_ELSEWHERE.has(path.join(' '))
})
const examples = commands.flatMap((command) =>
  command.examples
    .filter((line) => !ASKING.has(line))
    .map((line) => ({ line, name: command.path.join(' ') })),
)

test('every example in the help works', { timeout: 600_000 }, async (t) => {
  await using sandbox = await makeExampleSandbox()
  const { stdout, stderr, code } = await sandbox.shell(PREPARE)
  assert.equal(code, 0, stderr)
  const [, id = ''] = /"id": ".*(.{8})"/.exec(stdout) ?? []
  for (const { line, name } of examples) {
    await t.test(line, async () => {
      const undo = UNDO[name] ?? ''
      const before = await sandbox.shell(`rm -rf ~/.crabtalk; cp -r prepared ~/.crabtalk; ${undo}`)
      assert.deepEqual([before.code, before.stderr], [0, ''])
      const here = line
        .replaceAll('8Z4K2M0Q', id)
        .replaceAll(/https:\S+example\.com\S*/g, sandbox.env['DOCS_URL']!)
      const finished = await runLine(sandbox, replaceHome(here, sandbox.user))
      assert.deepEqual([finished.code, finished.stderr.includes('error[')], [0, false], finished.stderr)
    })
  }
})

test('every example in the help of chat opens a chat', async () => {
  await using sandbox = await makeExampleSandbox()
  await sandbox.shell('crabtalk agent create reviewer')
  for (const line of CRABTALK.find(({ path }) => path[0] === 'chat')!.examples) {
    const terminal = sandbox.terminalShell(line)
    await terminal.shows(/--new/.test(line) ? /Ready\.[\s\S]*Ask anything/ : /Ask anything/)
    terminal.type('\x04')
    assert.equal((await terminal.finished).code, 0, line)
  }
})

/** Runs a line in bash, as the help shows it. Stages that need jq are replaced when jq is not installed. */
async function runLine(sandbox: ExampleSandbox, line: string) {
  const stages = await Promise.all(
    line.split(' | ').map(async (stage, index) => {
      const [program = ''] = stage.split(' ')
      const isHere = program !== 'jq' || (await which(program, { nothrow: true })) !== null
      return isHere ? stage : index === 0 ? `echo '{"a":2,"b":3}'` : 'cat'
    }),
  )
  const script = `set -o pipefail; ${stages.join(' | ')}`
  const shell = (await which('bash', { nothrow: true })) ?? 'sh'
  return await sandbox.shell(`exec ${shell} -c '${script.replaceAll("'", "'\\''")}'`)
}

/** Replaces `/home/me` with the directory `user`; outside quotes its spaces are escaped. */
function replaceHome(line: string, user: string): string {
  const escaped = user.replaceAll(' ', '\\ ')
  return line.replaceAll(/'[^']*'|[^']+/g, (part) =>
    part.replaceAll('/home/me', part.startsWith("'") ? user : escaped),
  )
}
