import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Command, ParsedOptions } from '../../src/cli/command.ts'
import { parseOptions } from '../../src/cli/parse.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { propertyRuns } from '../support/property-runs.ts'

const COMMAND: Command = {
  path: ['try'],
  args: '[...words]',
  summary: '',
  options: [
    { name: 'sender', short: 's', value: 'NAME', summary: '' },
    { name: 'file', short: 'f', value: 'PATH', summary: '' },
    { name: 'max-turns', value: 'N', summary: '' },
    { name: 'resume', short: 'r', value: 'ID', isValueOptional: true, summary: '' },
    { name: 'color', value: 'WHEN', summary: '' },
    { name: 'no-save', summary: '' },
    { name: 'thinking', summary: '' },
    { name: 'verbose', short: 'v', summary: '' },
    { name: 'quiet', short: 'q', summary: '' },
  ],
  examples: [],
  load: async () => async () => 0,
}

/** Command lines, and the resulting words and options. */
const LINES: [string[], string[], Record<string, readonly string[]>][] = [
  [[], [], {}],
  [['one', 'two'], ['one', 'two'], {}],
  [['--sender', '007'], [], { sender: ['007'] }],
  [['--sender=1e3', '--max-turns', '0x10'], [], { sender: ['1e3'], 'max-turns': ['0x10'] }],
  [['-s', 'true', 'false', '12'], ['false', '12'], { sender: ['true'] }],
  [['--sender', ''], [], { sender: [''] }],
  [['--sender='], [], { sender: [''] }],
  [['--sender=a=b'], [], { sender: ['a=b'] }],
  [['-s=x'], [], { sender: ['x'] }],
  [['-sx'], [], { sender: ['x'] }],
  [['-vsx'], [], { verbose: [''], sender: ['x'] }],
  [['-vs', 'x'], [], { verbose: [''], sender: ['x'] }],
  [['-vs=x'], [], { verbose: [''], sender: ['x'] }],
  [['-s', '-'], [], { sender: ['-'] }],
  [['--max-turns', '-1', '-s', '-1d'], [], { 'max-turns': ['-1'], sender: ['-1d'] }],
  [['-', 'a', '-'], ['-', 'a', '-'], {}],
  [['a', '-v', 'b', '--quiet', 'c'], ['a', 'b', 'c'], { verbose: [''], quiet: [''] }],
  [['-vvq'], [], { verbose: ['', ''], quiet: [''] }],
  [['-f', 'a', '--file=b', '-f', 'c'], [], { file: ['a', 'b', 'c'] }],
  [['--no-save', 'x'], ['x'], { 'no-save': [''] }],
  [['--', '-v', '--none', '--', '-'], ['-v', '--none', '--', '-'], {}],
  [['-v', '--', '--help'], ['--help'], { verbose: [''] }],
  [['--sender', 'a b', 'c d'], ['c d'], { sender: ['a b'] }],
  [['-r'], [], { resume: [''] }],
  [['--resume', '-v'], [], { resume: [''], verbose: [''] }],
  [['-vr', 'x', 'y'], ['y'], { verbose: [''], resume: ['x'] }],
  [['--resume', 'x', 'y'], ['y'], { resume: ['x'] }],
]

for (const [argv, args, given] of LINES) {
  test(`parseOptions() reads ${JSON.stringify(argv)}`, () => {
    const options = parse(COMMAND, argv)
    assert.deepEqual(options.args, args)
    assert.deepEqual(givenBy(options), given)
  })
}

test('parseOptions() returns the last value, all values, and their number', () => {
  const options = parse(COMMAND, ['-s', 'a', '-vv', '-s', 'b'])
  assert.equal(options.value('sender'), 'b')
  assert.deepEqual(options.values('sender'), ['a', 'b'])
  assert.equal(options.count('verbose'), 2)
  assert.deepEqual([options.has('sender'), options.has('file')], [true, false])
  assert.deepEqual([options.value('file'), options.values('file'), options.count('file')], [undefined, [], 0])
})

/** After its second argument the words belong to another program. */
const RAW: Command = { ...COMMAND, args: '<name> <program> [...args]', rawFrom: 1 }
const RAW_LINES: [string[], string[], Record<string, readonly string[]>][] = [
  [['a', 'npx', '-y', 'x'], ['a', 'npx', '-y', 'x'], {}],
  [
    ['-v', 'a', '-s', 'n', 'npx', '-v', '--none'],
    ['a', 'npx', '-v', '--none'],
    { verbose: [''], sender: ['n'] },
  ],
  [['a', '--', '-y', '-v'], ['a', '-y', '-v'], {}],
  [['a', '-v', '--', 'npx', '-q', '--', '-'], ['a', 'npx', '-q', '--', '-'], { verbose: [''] }],
  [['a', 'npx', '--', '-q'], ['a', 'npx', '--', '-q'], {}],
  [['--', 'a', '-x', '-v'], ['a', '-x', '-v'], {}],
]

for (const [argv, args, given] of RAW_LINES) {
  test(`parseOptions() leaves the words of another program alone: ${JSON.stringify(argv)}`, () => {
    const options = parse(RAW, argv)
    assert.deepEqual(options.args, args)
    assert.deepEqual(givenBy(options), given)
  })
}

/** Invalid command lines, and the expected message and hint. */
const MISTAKES: [string[], RegExp, RegExp][] = [
  [['--sendr', 'x'], /^Unknown option --sendr$/, /did you mean --sender\?/],
  [['--sendr=x'], /^Unknown option --sendr$/, /did you mean --sender\?/],
  [['--maxTurns', '3'], /^Unknown option --maxTurns$/, /did you mean --max-turns\?/],
  [['--entirely-else'], /^Unknown option --entirely-else$/, /see crabtalk try --help/],
  [['-x'], /^Unknown option -x$/, /see crabtalk try --help/],
  [['-vx'], /^Unknown option -x$/, /see/],
  [['--save'], /^Unknown option --save$/, /did you mean --no-save\?/],
  [['--no-thinking'], /^Unknown option --no-thinking$/, /did you mean --thinking\?/],
  [['--no-color'], /^Unknown option --no-color$/, /did you mean --color\?/],
  [['--no-quiet'], /^Unknown option --no-quiet$/, /./],
  [['--v'], /^Unknown option --v$/, /./],
  [['-thinking'], /^Unknown option -t$/, /see/],
  [['--__proto__', 'x'], /^Unknown option --__proto__$/, /./],
  [['--constructor'], /^Unknown option --constructor$/, /./],
  [['--=x'], /^Unknown option --$/, /./],
  [['---v'], /^Unknown option ---v$/, /./],
  [['-s'], /^Option --sender needs a value$/, /for example --sender NAME/],
  [['-v', '--sender'], /^Option --sender needs a value$/, /NAME/],
  [['--sender', '--verbose'], /^Option --sender needs a value$/, /NAME/],
  [['-s', '-v'], /^Option --sender needs a value$/, /NAME/],
  [['--verbose=3'], /^Option --verbose takes no value$/, /./],
  [['--no-save=false'], /^Option --no-save takes no value$/, /./],
  [['-v=1'], /^Unknown option -=$/, /./],
]

for (const [argv, message, hint] of MISTAKES) {
  test(`parseOptions() rejects ${JSON.stringify(argv)}`, () => {
    assert.throws(() => parse(COMMAND, argv), { name: 'CrabError', kind: 'usage', message, hint })
  })
}

test('parseOptions() requires the arguments of a command, and no more', () => {
  const [none, one, two, many] = ['', '<name>', '<old> <new>', '<...ids>'].map((args) => ({
    ...COMMAND,
    args,
  }))
  for (const [command, argv] of [
    [none!, []],
    [one!, ['a']],
    [one!, ['--', '-a']],
    [two!, ['a', '--', 'b']],
    [many!, ['a', 'b', 'c']],
    [many!, ['--', 'a', 'b']],
  ] as const) {
    assert.deepEqual(
      parse(command, argv).args,
      argv.filter((word) => word !== '--'),
    )
  }
  for (const [command, argv] of [
    [none!, ['a']],
    [none!, ['--', 'a']],
    [one!, []],
    [one!, ['a', 'b']],
    [one!, ['--', 'a', 'b']],
    [two!, ['a']],
    [many!, []],
    [many!, ['--']],
  ] as const) {
    const hint = `crabtalk try ${command.args.replace('...ids', 'ids…')}`.trim()
    assert.throws(() => parse(command, argv), { kind: 'usage', hint }, argv.join(' '))
  }
})

test('parseOptions() accepts only the choices of an option, and what its command accepts', () => {
  const choosy = { name: 'on', value: 'WHO', choices: ['me', 'you'], refused: ['them'], summary: '' }
  const command = { ...COMMAND, options: [choosy, { name: 'help', summary: '' }] }
  for (const who of ['me', 'them']) assert.equal(parse(command, ['--on', who]).value('on'), who)
  assert.deepEqual(parse(command, ['--on=it', '--help']).values('on'), ['it'])
  const refusal = { kind: 'usage', message: 'Cannot use --on it', hint: 'choose one of me, you' }
  assert.throws(() => parse(command, ['--on=it', '--on=me']), refusal)
  assert.throws(() => parse(command, ['--on=it']), refusal)
})

/** Arguments, how many are given, and the expected message. */
const COUNTS: [string, number, string][] = [
  ['', 1, 'it takes no arguments'],
  ['<name>', 0, '<name> is missing'],
  ['<name> <tool> [...arguments]', 0, '<name> and <tool> are missing'],
  ['<name> <tool> [...arguments]', 1, '<tool> is missing'],
  ['<old> <new>', 3, 'it takes no more than <old> <new>'],
]

for (const [args, given, problem] of COUNTS) {
  test(`parseOptions() reports that ${problem} for ${given} of "${args}", and repeats none`, () => {
    const message = `Cannot run "crabtalk try": ${problem}`
    assert.throws(() => parse({ ...COMMAND, args }, Array(given).fill('secret')), { kind: 'usage', message })
  })
}

test('parseOptions() reports an empty argument', () => {
  for (const [args, argv, problem] of [
    ['<...words>', [''], '<words…> is empty'],
    ['<name>', [''], '<name> is empty'],
  ] as const) {
    const message = `Cannot run "crabtalk try": ${problem}`
    assert.throws(() => parse({ ...COMMAND, args }, argv), { kind: 'usage', message })
  }
})

test('parseOptions() loses no word of any line', () => {
  const word = fc.oneof(
    fc.string({ maxLength: 5 }),
    fc.constantFrom('-', '--', '-v', '--sender', '-f', '--file=x', '7'),
  )
  fc.assert(
    fc.property(fc.array(word), (argv) => {
      try {
        const options = parse(COMMAND, argv)
        const values = Object.values(givenBy(options)).flat()
        const joined = [...options.args, ...values].join('')
        for (const text of argv.filter((one) => !one.startsWith('-'))) assert.ok(joined.includes(text))
      } catch (reason) {
        assert.equal((reason as { kind?: string }).kind, 'usage')
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('every command of the table parses its own examples', () => {
  for (const command of CRABTALK.filter(({ hidden }) => !hidden)) {
    for (const example of command.examples.filter((line) => line !== 'crabtalk')) {
      const own = example.split(' | ').find((one) => one.includes(`crabtalk ${command.path.join(' ')}`))
      const line = / ?crabtalk (.*?)( [|>]|\)"$|$)/.exec(own ?? example)?.[1] ?? ''
      const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
      assert.deepEqual(words.slice(0, command.path.length), command.path)
      parse(
        command,
        words.slice(command.path.length).map((one) => one.replace(/^["']|["']$/g, '')),
      )
    }
  }
})

test('parseOptions() uses the name of the program it was started as', () => {
  const named = { program: 'crabup', command: COMMAND }
  assert.throws(() => parseOptions(named, ['--frobnicate']), { hint: 'see crabup try --help' })
  const lacking = { program: 'crabup', command: { ...COMMAND, args: '<name>' } }
  assert.throws(() => parseOptions(lacking, []), { hint: 'crabup try <name>' })
})

function parse(command: Command, argv: readonly string[]): ParsedOptions {
  return parseOptions({ program: 'crabtalk', command }, argv)
}

function givenBy(options: ParsedOptions): Record<string, readonly string[]> {
  const names = COMMAND.options.map(({ name }) => name).filter((name) => options.has(name))
  return Object.fromEntries(names.map((name) => [name, options.values(name)]))
}
