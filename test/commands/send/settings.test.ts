import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { SendSettings } from '../../../src/commands/send/settings.ts'
import { ApprovalMode, ToolSet } from '../../../src/core/protocol/crabtalk.generated.ts'
import { parseSendSettings } from '../../support/send-settings.ts'
import { makeTestHost, type TestHostOptions } from '../../support/test-host.ts'
import { makeTestTerminal } from '../../support/test-terminal.ts'

test('readSettings() returns the documented defaults', async () => {
  assert.deepEqual(await settings(), {
    agent: '',
    target: { kind: 'fresh' },
    fork: false,
    ephemeral: false,
    roots: [],
    args: [],
    files: [],
    images: [],
    readStdin: true,
    stdinWaitMs: 30_000,
    truncate: undefined,
    records: false,
    detach: false,
    model: '',
    system: undefined,
    schema: '',
    thinking: undefined,
    effort: '',
    maxTurns: undefined,
    compactAt: undefined,
    maxCostUsd: undefined,
    retries: undefined,
    form: 'text',
    outFile: undefined,
    lastOnly: false,
    buffer: false,
    raw: false,
    color: 'auto',
    verbosity: 0,
    timeoutMs: 600_000,
    idleTimeoutMs: 120_000,
    tools: ToolSet.UNSPECIFIED,
    noMcp: false,
    allow: [],
    ask: [],
    deny: [],
    mode: ApprovalMode.UNSPECIFIED,
    onAsk: 'deny',
    failOnToolError: false,
  })
})

/** Options, and the resulting settings. */
const GIVEN: [string[], Partial<SendSettings>][] = [
  [['-a', 'critic'], { agent: 'critic' }],
  [['-s', '007'], { target: { kind: 'named', sender: '007' } }],
  [['-c'], { target: { kind: 'last' } }],
  [['-c', '--fork'], { target: { kind: 'last' }, fork: true }],
  [['-s', 'a', '--fork'], { target: { kind: 'named', sender: 'a' }, fork: true }],
  [['--no-save'], { ephemeral: true, target: { kind: 'fresh' } }],
  [['--no-stdin'], { readStdin: false }],
  [['--stdin-wait', '5s'], { stdinWaitMs: 5_000 }],
  [['--truncate', 'head'], { truncate: 'head' }],
  [['--truncate', 'tail'], { truncate: 'tail' }],
  [['--truncate', 'middle'], { truncate: 'middle' }],
  [['-f', 'a', '--file', 'b', '-i', 'c'], { files: ['a', 'b'], images: ['c'] }],
  [['-m', 'gpt'], { model: 'gpt' }],
  [['--system', ''], { system: '' }],
  [['--system', '@system.md'], { system: 'Be brief.\n' }],
  [['--schema', ' {"type":"object"}'], { schema: ' {"type":"object"}' }],
  [['--schema', 'schema.json'], { schema: '{"type":"array"}' }],
  [['--thinking'], { thinking: true }],
  [['--max-turns', '3'], { maxTurns: 3 }],
  [['--max-cost', '0.5'], { maxCostUsd: 0.5 }],
  [['--max-cost', '$2'], { maxCostUsd: 2 }],
  [['--max-cost', '0'], { maxCostUsd: 0 }],
  [['--retries', '0'], { retries: 0 }],
  [['-o', 'json'], { form: 'json' }],
  [['--last', '--buffer', '--raw'], { lastOnly: true, buffer: true, raw: true }],
  [['--color', 'never'], { color: 'never' }],
  [['--color', 'always'], { color: 'always' }],
  [['-v'], { verbosity: 1 }],
  [['-vv'], { verbosity: 2 }],
  [['-q', '-v'], { verbosity: -1 }],
  [['--timeout', '0', '--idle-timeout', '90'], { timeoutMs: 0, idleTimeoutMs: 90_000 }],
  [['--no-mcp'], { noMcp: true }],
  [['--allow', 'edit', '--allow', 'bash(git *)'], { allow: ['edit', 'bash(git *)'] }],
  [['--deny', 'read(/etc/**)', '--deny=mcp__fs__*'], { deny: ['read(/etc/**)', 'mcp__fs__*'] }],
  [['--yolo'], { mode: ApprovalMode.ALL }],
  [['--on-ask', 'deny'], { onAsk: 'deny' }],
  [['--on-ask', 'fail'], { onAsk: 'fail' }],
  [['--on-ask', 'park'], { onAsk: 'park' }],
  [['--detach'], { detach: true, onAsk: 'deny' }],
  [['--detach', '--on-ask', 'fail'], { detach: true, onAsk: 'fail' }],
  [['--input', 'stream-json', '-o', 'stream-json', '--on-ask', 'client'], { onAsk: 'client' }],
  [['--fail-on-tool-error'], { failOnToolError: true }],
  [['--input', 'stream-json', '--output', 'stream-json'], { records: true, form: 'stream-json' }],
]

for (const [argv, set] of GIVEN) {
  test(`readSettings() reads ${argv.join(' ')}`, async () => {
    const all = await settings(...argv)
    const names = Object.keys(set) as (keyof SendSettings)[]
    assert.deepEqual(Object.fromEntries(names.map((name) => [name, all[name]])), set)
  })
}

/** Contradictory or invalid options, the exit of the command, and the message. */
const REFUSED: [string[], string, RegExp][] = [
  [['-s', 'a', '-c'], 'usage', /--sender and --continue/],
  [['-c', '--no-save'], 'usage', /--continue and --no-save/],
  [['-s', ''], 'usage', /empty --sender/],
  [['--fork'], 'usage', /does not exist yet/],
  [['--fork', '--no-save'], 'usage', /does not exist yet/],
  [['--truncate', 'left'], 'usage', /--truncate left/],
  [['--output', 'xml'], 'usage', /--output xml/],
  [['--color', 'on'], 'usage', /--color on/],
  [['--max-turns', '0'], 'usage', /--max-turns 0/],
  [['--retries', '-1'], 'usage', /--retries -1: it must be a whole number, 0 or more/],
  [['--retries', 'many'], 'usage', /--retries many/],
  [['--max-cost', 'much'], 'usage', /--max-cost much/],
  [['--max-cost', '$'], 'usage', /--max-cost \$/],
  [['--max-cost=-1'], 'usage', /--max-cost -1/],
  [['--timeout', 'soon'], 'usage', /--timeout soon/],
  [['--schema', '{'], 'usage', /Cannot use --schema/],
  [['--schema', '{bad'], 'usage', /^Cannot use --schema: it is not valid JSON \(line 1, column 2\)$/],
  [['--schema', 'system.md'], 'usage', /Cannot use --schema: it is not valid JSON/],
  [['--schema', 'none.json'], 'no-input', /Cannot read none\.json for --schema: it does not exist/],
  [['--system', '@none.md'], 'no-input', /Cannot read none\.md for --system/],
  [['--output', 'stream-json', '-O', 'x'], 'usage', /--output stream-json and --out-file/],
  [['--input', 'stream-json'], 'usage', /requires --output stream-json/],
  [['--input', 'stream-json', '-o', 'stream-json', 'hi'], 'usage', /no prompt/],
  [['--input', 'stream-json', '-o', 'stream-json', '-f', 'x'], 'usage', /--input stream-json and --file/],
  [['--allow', 'bash('], 'usage', /^Cannot use --allow "bash\(": it has a \( without/],
  [
    ['--allow', 'edit', '--deny', 'Bash(ls)'],
    'usage',
    /^Cannot use --deny "Bash\(ls\)": it must be written in/,
  ],
  [['--allow', ''], 'usage', /^Cannot use --allow "": it is empty/],
  [['--on-ask', 'me'], 'usage', /--on-ask me/],
  [['--on-ask', 'tty'], 'usage', /Cannot ask on the terminal: this process has none/],
  [['--on-ask', 'client'], 'usage', /--on-ask client requires --input stream-json/],
  [['--detach', '--on-ask', 'tty'], 'usage', /Cannot combine --detach and --on-ask tty/],
  [['--detach', '--timeout', '5s'], 'usage', /Cannot combine --detach and --timeout/],
  [['--detach', '--output', 'stream-json'], 'usage', /Cannot combine --detach and --output stream-json/],
  [['-O', 'none/answer.md'], 'storage', /Cannot write none\/answer\.md: the directory does not exist/],
  [['-O', '.'], 'storage', /Cannot write \.: it is a directory/],
]

for (const [argv, kind, message] of REFUSED) {
  test(`readSettings() rejects ${argv.join(' ')} with ${kind}`, async () => {
    await assert.rejects(settings(...argv), { name: 'CrabError', kind, message })
  })
}

test('readSettings() prints an example of a valid rule', async () => {
  await assert.rejects(settings('--allow', 'bash('), { hint: "for example --allow 'read(src/**)'" })
})

/** Terminals of a process, and who is asked by default. */
const ATTENDED: [string, TestHostOptions, SendSettings['onAsk']][] = [
  ['a terminal as standard error', { terminals: ['stderr'] }, 'terminal'],
  ['a terminal as standard input', { stdin: 'terminal' }, 'terminal'],
  ['standard output only', { terminals: ['stdout'] }, 'deny'],
  ['pipes only', { stdin: '' }, 'deny'],
]

for (const [what, options, onAsk] of ATTENDED) {
  test(`readSettings() asks ${onAsk === 'deny' ? 'nothing' : 'on the terminal'} with ${what}`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
    using terminal = makeTestTerminal(folder.path)
    await using at = await makeTestHost({ ...options, terminal: () => terminal.open() })
    assert.equal((await parseSendSettings(['hi'], at.host)).onAsk, onAsk)
    assert.equal((await parseSendSettings(['hi', '--on-ask', 'tty'], at.host)).onAsk, 'terminal')
    assert.equal(terminal.opened(), 0)
    await using none = await makeTestHost(options)
    assert.equal((await parseSendSettings(['hi'], none.host)).onAsk, 'deny')
  })
}

test('readSettings() parks the questions of a detached turn on a terminal', async () => {
  await using at = await makeTestHost({ terminals: ['stderr'] })
  assert.equal((await parseSendSettings(['hi', '--detach'], at.host)).onAsk, 'park')
  assert.equal((await parseSendSettings(['hi', '--detach', '--on-ask', 'deny'], at.host)).onAsk, 'deny')
})

async function settings(...argv: string[]): Promise<SendSettings> {
  await using at = await makeTestHost()
  await writeFile(join(at.folder, 'system.md'), 'Be brief.\n')
  await writeFile(join(at.folder, 'schema.json'), '{"type":"array"}')
  return await parseSendSettings(argv, at.host)
}

test('readSettings() reads which tools the model gets', async () => {
  assert.equal((await settings('--tools', 'none')).tools, ToolSet.NONE)
  assert.equal((await settings('--tools', 'read')).tools, ToolSet.READ)
  assert.equal((await settings('--tools', 'all')).tools, ToolSet.ALL)
  await assert.rejects(settings('--tools', 'some'), { kind: 'usage', message: 'Cannot use --tools some' })
})
