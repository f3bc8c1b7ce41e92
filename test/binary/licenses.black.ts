import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { BINARY, makeSandbox } from '../support/run-binary.ts'

interface Row {
  name: string
  version: string
  purl: string
  texts?: string[]
}

test('licenses lists the program, Node, ripgrep and every package of the SBOM beside the binary', async () => {
  await using box = await makeSandbox()
  const { stdout, code } = await box.run(['licenses', '--json'])
  assert.equal(code, 0)
  const [own, ...rows] = JSON.parse(stdout) as Row[]
  assert.deepEqual([own?.name, own?.version], ['crabtalk', manifest.version])
  const sbom = JSON.parse(await readFile(join(dirname(BINARY), 'sbom.cdx.json'), 'utf8'))
  assert.deepEqual(
    rows.map(({ purl }) => purl),
    sbom.components.map(({ purl }: Row) => purl),
  )
  const names = new Set(rows.map(({ name }) => name))
  for (const name of ['node', 'ripgrep', 'PCRE2', 'ink', '@bufbuild/protobuf'])
    assert.ok(names.has(name), name)
  const table = await box.run(['licenses'])
  assert.match(table.stdout, /^NAME +VERSION +LICENSE\ncrabtalk +\S+ +MIT\n/)
  assert.equal(table.stdout.trimEnd().split('\n').length, rows.length + 2)
})

test('licenses prints the full texts of one component or of all, and JSON', async () => {
  await using box = await makeSandbox()
  const one = await box.run(['licenses', 'Highlight.js'])
  assert.match(
    one.stdout,
    /^highlight\.js \S+ \(BSD-3-Clause\)\n\nBSD 3-Clause License\n(?:.*\n)*Redistribution/,
  )
  const all = await box.run(['licenses', '--text'])
  const notices = await readFile(join(dirname(BINARY), 'THIRD-PARTY-NOTICES'), 'utf8')
  const { stdout } = await box.run(['licenses', '--text', '--json'])
  for (const { name, texts = [] } of (JSON.parse(stdout) as Row[]).slice(1)) {
    assert.ok(texts.length > 0, name)
    for (const text of texts) {
      assert.ok(notices.includes(text), name)
      assert.ok(all.stdout.includes(text.trimEnd()), name)
    }
  }
})

test('licenses suggests the nearest name for an unknown component', async () => {
  await using box = await makeSandbox()
  const unknown = await box.run(['licenses', 'reakt'])
  assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /nothing with that name is included\nhint: did you mean "react"\?/)
})
