import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTalk } from '../support/talk.ts'
import { requestMessages } from '../support/test-node.ts'

const FILES = {
  'src/add.sh': '# Sums two numbers.\nadd() {\n  echo $(($1 - $2))\n}\n',
  'src/twice.sh': '. src/add.sh\ntwice() {\n  add "$1" 2\n}\n',
  'test.sh': '. src/twice.sh\n[ "$(add 2 3)" = 5 ] && [ "$(twice 4)" = 8 ] && echo "2 passed"\n',
}

test('an agent finds two bugs, reads, edits both files and runs the tests', async () => {
  await using talk = await makeTalk([
    { parts: [use('find', 'glob', { pattern: '**/*.sh' }), use('run', 'bash', { command: 'sh test.sh' })] },
    { parts: ['The tests fail. ', use('grep', 'grep', { pattern: '^(add|twice)\\(\\)', context: 1 })] },
    {
      parts: [use('read-1', 'read', { path: 'src/add.sh' }), use('read-2', 'read', { path: 'src/twice.sh' })],
    },
    {
      parts: [
        use('edit-1', 'edit', { path: 'src/add.sh', edits: [{ old: '$1 - $2', new: '$1 + $2' }] }),
        use('edit-2', 'edit', { path: 'src/twice.sh', edits: [{ old: 'add "$1" 2', new: 'add "$1" "$1"' }] }),
      ],
    },
    { parts: [use('again', 'bash', { command: 'sh test.sh' })] },
    { parts: ['Both are mended.'] },
  ])
  await mkdir(join(talk.cwd, 'src'))
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(talk.cwd, name), text)

  const flags = ['--allow', 'edit(src/**)', '--allow', 'bash(sh test.sh)', '--output', 'json']
  const { stdout, stderr, code } = await talk.send([...flags, 'Make the tests pass.'])

  assert.deepEqual([stderr, code], ['', 0])
  const { text, turns, tools, denied } = JSON.parse(stdout)
  assert.deepEqual([text, turns, denied], ['The tests fail. \n\nBoth are mended.', 6, []])
  assert.deepEqual(
    tools.map(({ name, calls, errors }: Record<string, unknown>) => [name, calls, errors]).toSorted(),
    [
      ['bash', 2, 1],
      ['edit', 2, 0],
      ['glob', 1, 0],
      ['grep', 1, 0],
      ['read', 2, 0],
    ],
  )
  assert.match(await readFile(join(talk.cwd, 'src/add.sh'), 'utf8'), /\$1 \+ \$2/)
  assert.match(await readFile(join(talk.cwd, 'src/twice.sh'), 'utf8'), /add "\$1" "\$1"/)
  const results = requestMessages(talk.server.requests.at(-1)).filter(({ role }) => role === 'tool')
  assert.equal(results.at(-1)?.['content'], '2 passed')
  assert.deepEqual(new Set(String(results[0]?.['content']).split('\n')), new Set(Object.keys(FILES)))
})

function use(call: string, name: string, args: object) {
  return { call, name, args: JSON.stringify(args) }
}
