import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFacts } from '../../../src/up/packages/facts.ts'
import { chooseBin } from '../../../src/up/packages/install.ts'
import { npmFailure } from '../../../src/up/packages/npm-errors.ts'

test('toFacts() lists everything that npm installs with a package', () => {
  const { dependencies } = toFacts({
    dependencies: { a: '1' },
    optionalDependencies: { a: '1', native: '1' },
    peerDependencies: { shared: '1', unwanted: '1' },
    peerDependenciesMeta: { unwanted: { optional: true } },
    devDependencies: { tests: '1' },
  })
  assert.deepEqual(dependencies, ['a', 'native', 'shared'])
})

test('npmFailure() names the package and what it needs, not the file given to npm', () => {
  const output = { error: { code: 'E404', summary: '404 Not Found - GET http://registry/gone' } }
  const args = ['install', '--global', '--', '/tmp/work/crab-1.0.0.tgz']
  const { kind, message } = npmFailure(args, JSON.stringify(output), '')
  assert.equal(kind, 'missing')
  assert.equal(
    message,
    'Cannot install crab-1.0.0: the registry lacks one of its dependencies (404 Not Found - GET http://registry/gone)',
  )
})

test('npmFailure() says how to update from a file when the registry has no package of the program', () => {
  const output = JSON.stringify({ error: { code: 'E404', summary: '' } })
  const { hint } = npmFailure(['view', '--', 'crabtalk-linux-x64@latest'], output, '')
  assert.match(hint ?? '', /^crabup self update --from FILE /)
  assert.match(npmFailure(['view', '--', 'crabtalk-clock'], output, '').hint ?? '', /in a clone/)
  assert.equal(npmFailure(['view', '--', 'other'], output, '').hint, undefined)
})

test('chooseBin() names the missing program once', () => {
  assert.throws(() => chooseBin({ name: 'two', bin: { a: 'a.js', b: 'b.js' } }, 'two'), {
    message: 'Cannot use two: it has several programs, and none is called two',
  })
})
