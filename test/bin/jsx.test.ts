import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { makeTree } from '../support/trees.ts'

const JSX = join(import.meta.dirname, '../../bin/jsx.ts')

const HELLO = `interface Props { name: string }

export function Hello({ name }: Props) {
  if (name === '') throw new Error('nobody')
  return <b>{name}</b>
}
`

test('jsx.ts lets Node load a .tsx file, with its own lines in stack traces', async () => {
  await using tree = await makeTree({
    'hello.tsx': HELLO,
    'main.ts': `import { Hello } from './hello.tsx'
      const { type, props } = Hello({ name: 'you' })
      let stack = ''
      try { Hello({ name: '' }) } catch (reason) { stack = (reason as Error).stack! }
      console.log(JSON.stringify({ type, props, stack }))`,
    'node_modules/react/package.json': '{"name":"react","exports":{"./jsx-runtime":"./jsx.js"}}',
    'node_modules/react/jsx.js': 'exports.jsx = (type, props) => ({ type, props })',
  })
  const { type, props, stack } = JSON.parse(await run(tree.path('main.ts')))
  assert.deepEqual([type, props], ['b', { children: 'you' }])
  assert.match(stack, /hello\.tsx:4:\d+/)
})

test('jsx.ts does not load esbuild before a .tsx file is imported', async () => {
  const loaded = `import { createRequire } from 'node:module'
    console.log(Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('esbuild')).length)`
  await using tree = await makeTree({ 'main.ts': loaded })
  assert.equal(await run(tree.path('main.ts')), '0\n')
})

async function run(program: string): Promise<string> {
  const args = ['--import', pathToFileURL(JSX).href, program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return stdout
}
