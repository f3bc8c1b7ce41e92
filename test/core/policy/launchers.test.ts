import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findReach } from '../../../src/core/policy/launchers.ts'

/** Returns every command that one may start, and whether the list is complete. */
function reach(...words: string[]): [commands: string[], isClear: boolean] {
  const { commands, isClear } = findReach(words)
  return [commands.map((command) => command.join(' ')), isClear]
}

test('findReach() includes the command itself, also by its plain name', () => {
  assert.deepEqual(reach('git', 'rm', 'x'), [['git rm x'], true])
  assert.deepEqual(reach('/usr/bin/Git', 'rm'), [['/usr/bin/Git rm', 'git rm'], true])
})

test("findReach() treats every end of a launcher's arguments as a command", () => {
  assert.deepEqual(reach('sudo', '-u', 'ann', '/bin/rm', 'x'), [
    ['sudo -u ann /bin/rm x', '-u ann /bin/rm x', 'ann /bin/rm x', '/bin/rm x', 'rm x', 'x'],
    true,
  ])
  assert.deepEqual(reach('/bin/env', 'ls'), [['/bin/env ls', 'env ls', 'ls'], true])
  assert.deepEqual(reach('nohup'), [['nohup'], true])
})

test('findReach() reads the lines that a shell gets', () => {
  assert.deepEqual(reach('sh', '-c', 'ls a; /bin/rm b'), [
    ['sh -c ls a; /bin/rm b', '-c ls a; /bin/rm b', 'ls a; /bin/rm b', 'rm b', 'ls a', '/bin/rm b', 'rm b'],
    true,
  ])
  const [commands, isClear] = reach('sudo', 'bash', '-c', `env sh -c 'rm x'`)
  assert.ok(commands.includes('rm x'))
  assert.ok(isClear)
})

test('findReach() says when a part cannot be analysed', () => {
  assert.equal(reach('sh', '-c', 'rm $x')[1], false)
  assert.equal(reach('sh', '-c', 'eval x')[1], false)
  assert.equal(reach('bash')[1], false)
  assert.equal(reach('sudo', 'bash', '-s')[1], false)
  assert.equal(reach('sudo', ...Array.from({ length: 201 }, () => 'x'))[1], false)
  assert.equal(reach('bash', 'script.sh')[1], true)
})

test('findReach() looks into find only where it starts something', () => {
  assert.deepEqual(reach('find', '.', '-name', 'rm'), [['find . -name rm'], true])
  assert.ok(reach('find', '.', '-exec', 'rm', '{}', '+')[0].includes('rm {} +'))
  assert.ok(reach('fd', '-x', 'rm')[0].includes('rm'))
})

test('findReach() is fast for any input', () => {
  const nested = Array.from({ length: 12 }).reduce<string>((line) => `sh -c ${JSON.stringify(line)}`, 'rm x')
  assert.equal(reach('sh', '-c', nested)[1], false)
  const ends = reach(...Array.from({ length: 200 }, () => 'sudo'))[0]
  assert.ok(ends.length <= 400)
  const lines = Array.from({ length: 150 }, () => `sudo ${'a '.repeat(150)}`)
  assert.ok(reach('sudo', ...lines)[0].length < 100_000)
})
