import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { silentLog } from '../../../../src/core/base/log.ts'
import { TextIndex } from '../../../../src/core/search/text-index.ts'
import { indexFiles } from '../../../../src/core/session-search/background/index-files.ts'
import { openBackground } from '../../../../src/core/session-search/background/open-background.ts'
import { MAX_LINE_BYTES } from '../../../../src/core/session-search/background/session-text.ts'
import type { FileToRead, ReadFile } from '../../../../src/core/session-search/background/types.ts'
import { SEARCH_WORKER } from '../../../support/search-worker.ts'
import { toLine } from '../../storage/samples.ts'
import { allHits, HEADER, manySessions, sessionFiles, writtenIndex } from './session-files.ts'

const never = new AbortController().signal

for (const [place, source] of [
  ['a worker', SEARCH_WORKER],
  ['this thread', undefined],
] as const) {
  test(`indexFiles() with ${place} builds the same index as the lines did when they were written`, async () => {
    await using setting = await openSetting()
    const sessions = manySessions(700) // several batches of files
    for (const [group, lines] of sessions) setting.write(group, lines)
    const files = await setting.index([...sessions.keys()].map(setting.file))
    assert.deepEqual(
      files.map(({ group }) => group),
      [...sessions.keys()],
    )
    const written = writtenIndex(sessions)
    assert.deepEqual(allHits(setting.text), allHits(written))
    assert.equal(setting.text.stats.documents, written.stats.documents)
  })

  test(`indexFiles() with ${place} reports a file when it is completely indexed`, async () => {
    await using setting = await openSetting()
    const end = setting.write(1, [toLine('first'), toLine('second')])
    const found: number[] = []
    const [file] = await setting.index([setting.file(1)], () => found.push(setting.count('first second')))
    assert.deepEqual(found, [2])
    assert.deepEqual(file?.header, HEADER)
    assert.deepEqual(file?.cursor, { bytes: end, seq: 2 })
    assert.equal(file?.stamp?.size, end)
    assert.equal(file?.changed, false)
  })

  test(`indexFiles() with ${place} continues after a cursor, and replaces an old title by the new one`, async () => {
    await using setting = await openSetting()
    setting.write(1, [toLine('first'), { kind: 'meta', title: 'old', summary: 'short' }])
    const [before] = await setting.index([setting.file(1)])
    setting.append(
      1,
      [toLine('second'), { kind: 'meta', title: 'middle' }, { kind: 'meta', title: 'new' }],
      2,
    )
    const [after] = await setting.index([{ ...setting.file(1), since: before!.cursor }])
    assert.equal(after?.cursor.seq, 5)
    assert.deepEqual(
      ['first', 'second', 'old', 'middle', 'new', 'short'].map(setting.count),
      [1, 1, 0, 0, 1, 1],
    )
    setting.append(1, [{ kind: 'meta', title: '' }], 5)
    await setting.index([{ ...setting.file(1), since: after!.cursor }])
    assert.deepEqual(['new', 'short'].map(setting.count), [0, 1])
    assert.equal(setting.text.stats.documents, 3)
  })

  test(`indexFiles() with ${place} reports a replaced file, and indexes nothing of it`, async () => {
    await using setting = await openSetting()
    const end = setting.write(1, [toLine('first'), toLine('second')])
    for (const bytes of [0, 5, end - 1, end + 1, 1e9]) {
      const [file] = await setting.index([{ ...setting.file(1), since: { bytes, seq: 1 } }])
      assert.equal(file?.changed, true, `${bytes}`)
    }
    assert.equal(setting.text.stats.documents, 0)
  })

  test(`indexFiles() with ${place} skips what it cannot read`, async () => {
    await using setting = await openSetting()
    mkdirSync(setting.path(2))
    setting.write(3, [toLine('third')])
    const [gone, folder, third] = await setting.index([1, 2, 3].map(setting.file))
    assert.deepEqual([gone?.header, gone?.problem, gone?.changed], [undefined, undefined, false])
    assert.equal(folder?.header, undefined)
    assert.match(folder!.problem!, /^Cannot read .+2\.jsonl: /)
    assert.equal(third?.cursor.seq, 1)
    assert.equal(setting.count('third'), 1)
  })

  test(`indexFiles() with ${place} stops when it is aborted`, async () => {
    await using setting = await openSetting()
    for (const [group, lines] of manySessions(600)) setting.write(group, lines)
    const stop = new AbortController()
    const onFile = () => stop.abort(new Error('enough'))
    const files = Array.from({ length: 600 }, (_, group) => setting.file(group))
    const indexing = indexFiles(
      { background: setting.background, index: setting.text, files, onFile },
      stop.signal,
    )
    await assert.rejects(indexing, { message: 'enough' })
    assert.ok(setting.text.stats.documents < 600 * 3)
    await setting.index([setting.file(0)]) // it still works
  })

  test(`indexFiles() with ${place} reads files with any contents`, async () => {
    await using setting = await openSetting()
    setting.write(1, [toLine('first')])
    const path = setting.path(1)
    appendFileSync(path, 'no json\n\n[]\n{}\n{"kind":"entry","role":"user","content":5}\n')
    appendFileSync(path, Buffer.from([0xff, 0xfe, 0, 0x0a, 0xef, 0xbb, 0xbf]))
    appendFileSync(path, '{"seq":40,"kind":"entry","role":"user","content":"marked"}\n')
    appendFileSync(path, '{"kind":"entry","role":"user","content":"later"}\n{"kind":"of a newer build"}\n')
    appendFileSync(path, `{"kind":"entry","role":"user","content":"${'long '.repeat(MAX_LINE_BYTES / 5)}"}\n`)
    appendFileSync(path, '{"kind":"entry","role":"user","content":"last"}\n')
    const size = readFileSync(path).length
    appendFileSync(path, '{"kind":"entry","role":"user","content":"torn')
    const [file] = await setting.index([setting.file(1)])
    assert.equal(file?.cursor.bytes, size)
    assert.deepEqual(['first', 'later', 'last', 'long', 'torn'].map(setting.count), [1, 1, 1, 0, 0])
    truncateSync(path, 0)
    const [empty] = await setting.index([setting.file(1)])
    assert.equal(empty?.cursor.bytes, 0)
    writeFileSync(path, '{"kind":"entry","role":"user","content":"headless"}\n')
    await setting.index([setting.file(1)])
    assert.equal(setting.count('headless'), 1)
  })

  async function openSetting() {
    const files = await sessionFiles()
    const background = openBackground({ worker: async () => source, log: silentLog })
    const text = new TextIndex()
    return {
      ...files,
      background,
      text,
      async index(files: readonly FileToRead[], told?: (file: ReadFile) => void): Promise<ReadFile[]> {
        const ended: ReadFile[] = []
        const onFile = (file: ReadFile) => {
          ended.push(file)
          told?.(file)
        }
        await indexFiles({ background, index: text, files, onFile }, never)
        return ended
      },
      count: (words: string) => text.search({ text: words, limit: 100 }).length,
      async [Symbol.asyncDispose]() {
        await background[Symbol.asyncDispose]()
        await files[Symbol.asyncDispose]()
      },
    }
  }
}
