import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { compileLater } from '../../scripts/sea/zod-compile.ts'

const core = new URL('../../node_modules/zod/v4/core/', import.meta.url)

test('compileLater() has the installed zod compile a parser only when it is used often', async () => {
  const module = compileLater(await readFile(new URL('schemas.js', core), 'utf8'))!
  const absolute = module.replaceAll(/ from "(\..*)";$/gm, (_, path) => ` from "${new URL(path, core)}";`)
  const { $ZodObjectJIT, $ZodString } = await import(
    `data:text/javascript,${encodeURIComponent(absolute)}#patched`
  )
  const schema = new $ZodObjectJIT({ type: 'object', shape: { name: new $ZodString({ type: 'string' }) } })
  let compiled = 0
  const original = globalThis.Function
  globalThis.Function = new Proxy(original, {
    construct(target, args) {
      compiled++
      return Reflect.construct(target, args)
    },
  })
  try {
    for (let count = 0; count < 40; count++) {
      const { value, issues } = schema._zod.run(
        { value: { name: 'a', more: 1 }, issues: [] },
        { async: false },
      )
      assert.deepEqual([value, issues], [{ name: 'a' }, []])
      const failed = schema._zod.run({ value: { name: 1 }, issues: [] }, { async: false })
      assert.equal(failed.issues[0].path[0], 'name')
      assert.equal(compiled > 0, count >= 8, `${count}`)
    }
  } finally {
    globalThis.Function = original
  }
})

test('compileLater() refuses a module with another parser', () => {
  assert.equal(compileLater('export const x = 1'), undefined)
})
