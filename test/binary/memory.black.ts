import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed, modesUnder } from '../support/talk.ts'

test('memory remembers arguments, files and pipes, and shows each byte for byte', async () => {
  await using box = await makeSandbox()
  assert.match(
    await out(box, 'remember', 'deploy', 'every', 'Friday at 10'),
    /^remembered deploy · note · (?:now|\d+[sm] ago)\n$/,
  )
  assert.equal(await out(box, 'show', 'deploy'), 'every Friday at 10\n')
  await writeFile(join(box.cwd, 'plan.md'), '# Plan\n\n- ä 数据 🦀\n')
  await out(box, 'remember', 'plan', '@plan.md')
  assert.equal(await out(box, 'show', 'plan'), '# Plan\n\n- ä 数据 🦀\n')
  for (const args of [['pipe'], ['pipe', '-']]) {
    const { code, stderr } = await box.run(['memory', 'remember', ...args], { stdin: 'one\r\ntwo\n\n' })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(await out(box, 'show', 'pipe'), 'one\r\ntwo\n\n')
  }
  await box.shell('crabtalk memory show plan | crabtalk memory remember copy')
  assert.equal(await out(box, 'show', 'copy'), await out(box, 'show', 'plan'))
})

test('memory remember rejects invalid content before it writes anything', async () => {
  await using box = await makeSandbox()
  for (const [args, stdin] of [[['x']], [['x', '  ']], [['x'], '\n']] as [string[], string?][]) {
    const finished = await box.run(['memory', 'remember', ...args], stdin === undefined ? {} : { stdin })
    assertFailed(finished, 'usage', { message: /^Cannot remember: no content is given$/, hint: /./ })
  }
  assertFailed(await box.run(['memory', 'remember', 'x', '@nosuch']), 'no-input', { message: /nosuch/ })
  for (const [word, kind] of [
    ['@', 'usage'],
    ['@someone says hi', 'no-input'],
  ] as const) {
    const finished = await box.run(['memory', 'remember', 'x', word])
    assertFailed(finished, kind, { message: /^Cannot/, hint: /starts with @ into standard input/ })
  }
  const binary = await box.run(['memory', 'remember', 'x'], { stdin: Uint8Array.of(0x61, 0, 0x62) })
  assertFailed(binary, 'invalid', { message: /NUL/ })
  assert.deepEqual(
    (await modesUnder(box.home)).filter((row) => row.includes('memory/')),
    [],
  )
})

test('an entry is found by its name and its aliases, which rename and alias change', async () => {
  await using box = await makeSandbox()
  await out(box, 'remember', 'deploy', '--alias', 'ship', '--alias', 'release', 'on Fridays')
  assert.equal(await out(box, 'show', 'ship'), 'on Fridays\n')
  assert.match(
    await out(box, 'remember', 'ship', '--alias', 'rollout', 'on Mondays'),
    /^remembered deploy · /,
  )
  assert.match(
    await out(box, 'rename', 'deploy', 'release train'),
    /^renamed release train · note · (?:now|\d+[sm] ago) · also .*deploy/,
  )
  assert.match(await out(box, 'alias', 'deploy', 'go live', '--remove', 'ship'), /^changed release train · /)
  const [entry] = JSON.parse(await out(box, 'list', '--json'))
  assert.deepEqual([entry.name, entry.kind, entry.content], ['release train', 'note', 'on Mondays'])
  assert.deepEqual(entry.aliases.toSorted(), ['deploy', 'go live', 'release', 'rollout'])
  assertFailed(await box.run(['memory', 'show', 'ship']), 'missing', { message: /ship/ })
  await out(box, 'remember', 'other', 'text')
  assertFailed(await box.run(['memory', 'rename', 'other', 'deploy']), 'conflict', { message: /deploy/ })
  assertFailed(await box.run(['memory', 'alias', 'other']), 'usage', { message: /none is given$/ })
})

test('memory list aligns rows, truncates them on a terminal, filters, pages, and prints JSON', async () => {
  await using box = await makeSandbox()
  for (const name of ['c', 'a', 'b'])
    await out(box, 'remember', name, `about ${name}\nsecond line ${'x'.repeat(90)}`)
  const rows = (await out(box, 'list')).trimEnd().split('\n')
  assert.match(rows[0]!, /^NAME +KIND +SINCE +ALIASES +CONTENT$/)
  assert.deepEqual(
    rows.slice(1).map((row) => row.split(' ')[0]),
    ['a', 'b', 'c'],
  )
  await out(box, 'remember', 'a', `${'a'.repeat(199)}🦀`)
  assert.match(await out(box, 'list'), /a{199}\n/)
  await out(box, 'remember', 'a', `about a\nsecond line ${'x'.repeat(90)}`)
  assert.match(rows[1]!, /^a +note +\S.* about a second line x+$/)
  const names = async (...args: string[]) =>
    JSON.parse(await out(box, 'list', '--json', ...args)).map(({ name }: { name: string }) => name)
  assert.deepEqual(await names('-n', '2'), ['a', 'b'])
  assert.deepEqual(await names('--offset', '2'), ['c'])
  assert.deepEqual(await names('--kind', 'archive'), [])
  assert.deepEqual(await names('-n', '0', '-a', 'crab'), ['a', 'b', 'c'])
  assertFailed(await box.run(['memory', 'list', '--kind', 'notes']), 'usage', { message: /--kind notes$/ })
  assertFailed(await box.run(['memory', 'list', '-a', 'nobody']), 'missing', { message: /"nobody"/ })
  const terminal = box.terminal(['memory', 'list'], { columns: 50 })
  await terminal.finished
  assert.match(terminal.output(), /\r\na .{47}…\r\n/)
})

test('memory list of an empty memory says how to begin on standard error, and creates no home', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['memory', 'list'])
  assert.deepEqual([stdout, code], ['', 0])
  assert.match(stderr, /^Nothing is remembered yet; write something with crabtalk memory remember/)
  assert.equal(await out(box, 'list', '--json'), '[]\n')
  assertFailed(await box.run(['memory', 'show', 'x']), 'missing', { message: /"?x"?/ })
  assert.deepEqual(await modesUnder(box.home), [])
})

test('memory search finds names, aliases and contents, highlights them on a terminal, and exits 1 without a match', async () => {
  await using box = await makeSandbox()
  await out(
    box,
    'remember',
    'deploy',
    '--alias',
    'ship',
    `${'words before it '.repeat(30)} every Friday at ten`,
  )
  await out(box, 'remember', 'birthday', 'Ann was born on a Friday')
  await out(box, 'remember', 'tea', 'green')
  const text = await out(box, 'search', 'friday')
  assert.match(
    text,
    /^birthday · note · (?:now|\d+[sm] ago)\n {2}Ann was born on a Friday\n\ndeploy · note · (?:now|\d+[sm] ago) · also ship\n {2}.* every Friday at ten\n$/,
  )
  assert.match(await out(box, 'search', 'SHIP'), /^deploy /)
  const { hits } = JSON.parse(await out(box, 'search', '--json', '-n', '1', 'friday', 'ten'))
  assert.equal(hits.length, 1)
  const bytes = Buffer.from(hits[0].content)
  assert.deepEqual(
    hits[0].matches.map(([begin, end]: [number, number]) => bytes.subarray(begin, end).toString()),
    ['Friday', 'ten'],
  )
  const nothing = await box.run(['memory', 'search', 'quinoa', 'salad'])
  assert.deepEqual(
    [nothing.code, nothing.stdout, nothing.stderr],
    [1, '', 'Nothing found for quinoa salad\n'],
  )
  const json = await box.run(['memory', 'search', '--json', 'quinoa'])
  assert.deepEqual([json.code, JSON.parse(json.stdout), json.stderr], [1, { hits: [] }, ''])
  assertFailed(await box.run(['memory', 'search', '-n', '101', 'x']), 'usage', { message: /at most 100$/ })
  const terminal = box.terminal(['memory', 'search', 'friday'], { columns: 60 })
  await terminal.finished
  assert.ok(terminal.output().includes('every \u001b[31m\u001b[1mFriday\u001b[22m\u001b[39m at ten'))
  const plain = box.terminal(['memory', 'search', 'friday'], { columns: 60, env: { NO_COLOR: '1' } })
  await plain.finished
  assert.ok(!plain.output().includes('\u001b') && plain.output().includes('every Friday at ten'))
})

test('memory forget removes all of its arguments or none, and asks on a terminal', async () => {
  await using box = await makeSandbox()
  for (const name of ['a', 'b', 'c', 'd'])
    await out(box, 'remember', name, '--alias', `${name}${name}`, `about ${name}`)
  assertFailed(await box.run(['memory', 'forget', 'a', 'nosuch']), 'missing', {
    message: /^Cannot forget "nosuch"/,
  })
  assert.equal(await out(box, 'show', 'a'), 'about a\n')
  for (const name of ['', ' ']) {
    const refused = await box.run(['memory', 'forget', 'a', name])
    assertFailed(refused, name === '' ? 'usage' : 'missing', {
      message: /^Cannot forget "/,
      hint: /memory list/,
    })
  }
  assert.equal((await out(box, 'list')).split('\n').length, 6)
  assertFailed(await box.run(['memory', 'forget', 'a']), 'denied', {
    message: /^Cannot forget "a": there is no terminal to ask for confirmation$/,
    hint: /--yes/,
  })
  assert.match(await out(box, 'forget', '--yes', 'a', 'aa'), /^forgot a\n$/)
  const no = box.terminal(['memory', 'forget', 'b'])
  await no.shows(/b · note · (?:now|\d+[sm] ago) · also bb: about b\s+Forget this\? \[y\/N\] /)
  no.type('n\r')
  assert.equal((await no.finished).code, 4)
  assert.equal(await out(box, 'show', 'b'), 'about b\n')
  const yes = box.terminal(['memory', 'forget', 'b', 'c'])
  await yes.shows(/Forget these 2\? \[y\/N\] /)
  yes.type('y\r')
  assert.equal((await yes.finished).code, 0)
  const flag = box.terminal(['memory', 'forget', '-y', 'd'])
  assert.equal((await flag.finished).code, 0)
  assert.equal(await out(box, 'list', '--json'), '[]\n')
})

test('memory load restores what memory dump wrote, entry for entry', async () => {
  await using box = await makeSandbox()
  const names = ['deploy', 'a/b\\c', 'CON', 'Deploy', '..', 'ümläut 数据', 'x'.repeat(190), '<b>&amp;']
  for (const name of names) {
    await box.run(['memory', 'remember', '--alias', `${name} too`, '--', name], {
      stdin: `about ${name}\n\n<div id="meta">\n--\n \n\n`,
    })
  }
  const before = JSON.parse(await out(box, 'list', '--json'))
  assert.equal(before.length, names.length)
  assert.match(await out(box, 'dump', 'brain'), /^wrote 8 entries to brain\n$/)
  assert.match(await readFile(join(box.cwd, 'brain/SUMMARY.md'), 'utf8'), /\[Deploy\]\(notes\/Deploy\.md\)/)
  assert.match(await out(box, 'load', 'brain'), /^loaded 8 entries: nothing changes\n$/)
  assert.deepEqual(withoutIds(JSON.parse(await out(box, 'list', '--json'))), withoutIds(before))
  await rm(join(box.home, 'memory'), { recursive: true })
  assert.match(await out(box, 'load', 'brain'), /^loaded 8 entries: 8 new\n$/)
  assert.deepEqual(withoutIds(JSON.parse(await out(box, 'list', '--json'))), withoutIds(before))
})

test('memory load names what it removes and asks before it changes anything', async () => {
  await using box = await makeSandbox()
  await out(box, 'remember', 'keep', 'one')
  await out(box, 'remember', 'edit', 'two')
  await out(box, 'dump', 'brain')
  await out(box, 'remember', 'gone', 'three')
  await writeFile(join(box.cwd, 'brain/notes/edit.md'), 'by hand\n')
  await writeFile(join(box.cwd, 'brain/notes/new one.md'), 'new\n')
  const dry = await out(box, 'load', '--dry-run', 'brain')
  assert.equal(dry, '+ new one\n~ edit\n- gone\nwould load 3 entries: 1 removed, 1 changed, 1 new\n')
  assertFailed(await box.run(['memory', 'load', 'brain']), 'denied', {
    message: /^Cannot load brain: it would replace entries, 1 removed, 1 changed, 1 new$/,
    hint: /--yes$/,
  })
  assert.equal(await out(box, 'show', 'gone'), 'three\n')
  const no = box.terminal(['memory', 'load', 'brain'])
  await no.shows(/1 removed, 1 changed, 1 new\? \[y\/N\] /)
  no.type('\r')
  assert.equal((await no.finished).code, 4)
  assert.equal(await out(box, 'show', 'gone'), 'three\n')
  const yes = JSON.parse(await out(box, 'load', 'brain', '--yes', '--json'))
  assert.deepEqual(yes, { entries: 3, added: ['new one'], changed: ['edit'], removed: ['gone'] })
  assert.match(await out(box, 'show', 'edit'), /^by hand\n+$/)
  assertFailed(await box.run(['memory', 'show', 'gone']), 'missing', { message: /gone/ })
  assertFailed(await box.run(['memory', 'load', 'nosuch', '-y']), 'no-input', { message: /nosuch/ })
})

test('control characters of an entry are escaped on a terminal', async () => {
  await using box = await makeSandbox()
  await box.run(['memory', 'remember', 'bad'], { stdin: 'a\u001b]0;title\u0007\u001b[31mred' })
  for (const args of [['list'], ['show', 'bad'], ['search', 'title']]) {
    const terminal = box.terminal(['memory', ...args], { env: { NO_COLOR: '1' } })
    await terminal.finished
    assert.ok(!terminal.output().includes('\u001b') && terminal.output().includes('ared'), args.join(' '))
  }
})

test("control characters of a query and of a folder's name are escaped on a terminal", async () => {
  await using box = await makeSandbox()
  const commands = [
    ['memory', 'search', 'zz\u001b[31mred'],
    ['conversation', 'search', 'zz\u001b[31mred'],
    ['memory', 'dump', 'zz\u001b[31mred'],
    ['memory', 'show', 'zz\u001b[31mred'],
  ]
  for (const args of commands) {
    const terminal = box.terminal(args, { env: { NO_COLOR: '1' } })
    await terminal.finished
    assert.match(terminal.output(), /zzred/)
    assert.ok(!terminal.output().includes('\u001b'), args.join(' '))
  }
})

/** Returns the standard output of a `crabtalk memory` command that must succeed and print no errors. */
async function out(box: Sandbox, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await box.run(['memory', ...args])
  assert.deepEqual([stderr, code], ['', 0], args.join(' '))
  return stdout
}

function withoutIds(entries: readonly { id: number }[]) {
  return entries.map(({ id: _, ...entry }) => entry)
}
