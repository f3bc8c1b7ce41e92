import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSandbox } from '../support/run-binary.ts'
import { assertFailed, modesUnder } from '../support/talk.ts'

const WRONG: [args: string[], message: RegExp, hint: RegExp][] = [
  [['--verbos'], /^Unknown option --verbos$/, /--verbose\?$/],
  [['--ouput', 'json'], /^Unknown option --ouput$/, /--output\?$/],
  [['--modle=x'], /^Unknown option --modle$/, /--model\?$/],
  [['--no-sav'], /^Unknown option --no-sav$/, /--no-save\?$/],
  [['--no-timeout'], /^Unknown option --no-timeout$/, /--timeout\?$/],
  [['--zzzzzzzz'], /^Unknown option --zzzzzzzz$/, /crabtalk send --help$/],
  [['-Z'], /^Unknown option -Z$/, /crabtalk send --help$/],
  [['-qZ'], /^Unknown option -Z$/, /crabtalk send --help$/],
  [['--s', 'me'], /^Unknown option --s$/, /./],
  [['--thinking=false'], /^Option --thinking takes no value$/, /write --thinking alone$/],
  [['--sender'], /^Option --sender needs a value$/, /--sender NAME$/],
  [['-s', '--last'], /^Option --sender needs a value$/, /--sender NAME$/],
  [['--output', 'yaml'], /^Cannot use --output yaml$/, /text, json, stream-json$/],
  [['--input', 'csv'], /^Cannot use --input csv$/, /text, stream-json$/],
  [['--color', 'blue'], /^Cannot use --color blue$/, /auto, always, never$/],
  [['--truncate', 'none'], /^Cannot use --truncate none$/, /head, tail, middle$/],
  [['--timeout', 'soon'], /^Cannot use --timeout soon: it is not a duration$/, /--timeout 30s$/],
  [['--stdin-wait', ''], /^Cannot use --stdin-wait : it is not a duration$/, /--stdin-wait 30s$/],
  [
    ['--max-turns', '0'],
    /^Cannot use --max-turns 0: it must be a whole number, 1 or more$/,
    /--max-turns 3$/,
  ],
  [['--retries', '1.5'], /^Cannot use --retries 1.5: it must be a whole number, 0 or more$/, /--retries 3$/],
  [
    ['--max-cost', 'much'],
    /^Cannot use --max-cost much: it must be an amount in US dollars$/,
    /--max-cost 0.50$/,
  ],
  [['--output', 'stream-json', '-O', 'x'], /^Cannot combine --output stream-json and --out-file$/, /./],
]

test('send rejects wrong options with 2 and a hint, and writes nothing', async () => {
  await using box = await makeSandbox()
  for (const [args, message, hint] of WRONG) {
    const finished = await box.run(
      ['send', ...args, 'hello'].filter((word) => word !== 'hello' || args[0] !== '--sender'),
    )
    assertFailed(finished, 'usage', {
      message,
      hint,
      stdout: args.includes('stream-json') ? finished.stdout : '',
    })
  }
  assert.deepEqual(await modesUnder(box.home), [])
})

test('short options can be joined and carry their values in the usual forms', async () => {
  await using box = await makeSandbox()
  for (const args of [
    ['-qm', 'demo'],
    ['-qmdemo'],
    ['-q', '-m=demo'],
    ['-q', '--model=demo'],
    ['-q', '--model', 'demo'],
  ]) {
    const { stdout, stderr, code } = await box.run(['send', ...args, 'hello'])
    assert.deepEqual([stderr, code], ['', 0], args.join(' '))
    assert.match(stdout, /I only know a few commands/)
  }
})

test('send --help works without a home, names every option and has examples', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['send', '--help'])
  assert.deepEqual([stderr, code], ['', 0])
  for (const option of ['--sender', '--stdin-wait', '--print-schema', '--max-cost', '-O, --out-file']) {
    assert.ok(stdout.includes(option), option)
  }
  assert.match(stdout, /\nExamples:\n {2}crabtalk send "/)
  assert.equal((await box.run(['help', 'send'])).stdout, stdout)
  assert.equal((await box.run(['send', 'why', '-h'])).stdout, stdout)
  assert.match((await box.run(['send', '-q', '-m', 'demo', '--', '--help'])).stdout, /1 word/)
})

test('--debug shows where an error came from, and without it there is no stack trace', async () => {
  await using box = await makeSandbox()
  const plain = await box.run(['send', '--nope'])
  assert.doesNotMatch(plain.stderr, /^\s+at /m)
  assert.match((await box.run(['send', '--debug', '--nope'])).stderr, /^\s+at /m)
})
