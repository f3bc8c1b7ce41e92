import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { analyzeLine } from '../../../../src/core/hooks/bash/read-only.ts'
import { decide } from '../../../../src/core/policy/decide.ts'
import type { Decision } from '../../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../../support/policy-context.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'

const run = promisify(execFile)
const PATH = process.env['PATH'] ?? ''

test('commands that only read run in an added directory as in the working directory', async () => {
  await using tree = await makeProjects()
  for (const line of [
    'cat ../lib/a.ts',
    'ls ../lib ../lib/sub',
    'grep -r one ../lib',
    'cat ../lib/*.ts | head -3',
    'cd ../lib && ls && cat a.ts',
    'cd ../lib/sub && ls',
    'cd ../lib && git log',
    'cd ../lib && git status && cd ../app && git diff',
  ]) {
    assert.equal((await judge(tree, line)).effect, 'allow', line)
    assert.equal((await judge(tree, line, { roots: [] })).effect, 'ask', line)
  }
  assert.equal((await judge(tree, 'cat ../lib/a.ts')).reason, `cat only reads in ${tree.path('lib')}`)
  assert.equal((await judge(tree, 'cat a.ts')).reason, 'cat only reads in the working directory')
})

test('an added directory gives no more than the working directory', async () => {
  await using tree = await makeProjects()
  for (const line of [
    'cat ../secret',
    'cat ../lib/../secret',
    'cat ../lib/out',
    'cd ../lib && cat ../secret',
    'grep -r one ..',
    'cat ../lib/crab',
    'cd ../evil && git log',
    'rm ../lib/a.ts',
  ])
    assert.equal((await judge(tree, line)).effect, 'ask', line)
  const rules = ruleList(['deny read(../lib/a.ts)'])
  for (const line of ['cat ../lib/a.ts', 'cd ../lib && git log -p'])
    assert.equal((await judge(tree, line, { rules })).effect, 'ask', line)
})

test('a program in an added directory is one that the project brought', async () => {
  await using tree = await makeProjects()
  const path = `${tree.path('lib/bin')}:${PATH}`
  await run('chmod', ['+x', tree.path('lib/bin/ls')])
  assert.equal((await judge(tree, 'ls', { path })).effect, 'ask')
  assert.equal((await judge(tree, 'ls', { path, roots: [] })).effect, 'allow')
})

/** Two repositories, and files that must not be read. */
async function makeProjects(): Promise<Tree> {
  const tree = await makeTree({
    secret: 'x',
    'app/a.ts': 'one',
    'lib/a.ts': 'one',
    'lib/sub/b.ts': 'one',
    'lib/bin/ls': '#!/bin/sh\n',
    'lib/out': '-> ../secret',
    'lib/crab': '-> ../closed/key',
    'closed/key': 'x',
    'evil/a.ts': 'one',
  })
  for (const name of ['app', 'lib', 'evil']) await run('git', ['init', '-q', '-b', 'main', tree.path(name)])
  await run('git', ['config', 'diff.external', './x'], { cwd: tree.path('evil') })
  return tree
}

async function judge(
  tree: Tree,
  command: string,
  {
    roots = [tree.path('lib'), tree.path('evil')],
    path = PATH,
    rules = ruleList([]),
  }: { roots?: string[]; path?: string; rules?: ReturnType<typeof ruleList> } = {},
): Promise<Decision> {
  const [workspace, homeDir] = [tree.path('app'), tree.path('home')]
  const closed = [tree.path('closed')]
  const analysis = await analyzeLine(command, { cwd: workspace, roots, homeDir, closed, path })
  return decide(
    { kind: 'bash', command, ...analysis },
    makePolicyContext({ workspace, roots, homeDir, rules }),
  )
}
