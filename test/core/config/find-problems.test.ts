import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileSchemas, findProblems } from '../../../src/core/config/find-problems.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('findProblems() finds nothing in a valid home, and changes nothing', async () => {
  await using home = await temporaryHome()
  assert.deepEqual(await findProblems(home.paths), [])
  await home.write('config.toml', 'model = "m"\n')
  await home.write('agents/a.toml', '')
  assert.deepEqual(await findProblems(home.paths), [])
  assert.equal(await home.read('agents/a.toml'), '')
})

test('findProblems() lists the problems of config.toml and every agent file', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '\nmodle = "m"\n')
  await home.write('agents/a.toml', 'x = \n')
  await home.write(
    'agents/b.toml',
    'model = 1\n\n[[mcps]]\nname = "fs"\ncommand = "x"\n[mcps.env]\nTOKEN = 5\n',
  )
  await home.write('agents/good.toml', '')
  assert.deepEqual(await findProblems(home.paths), [
    {
      file: 'config.toml',
      line: 2,
      column: undefined,
      key: 'modle',
      message: 'unknown key "modle"',
      hint: 'did you mean "model"?',
    },
    {
      file: 'agents/a.toml',
      line: 1,
      column: 5,
      key: '',
      message: 'not valid TOML: invalid value',
      hint: 'text needs quotes: key = "text"',
    },
    {
      file: 'agents/b.toml',
      line: 1,
      column: undefined,
      key: 'model',
      message: '"model" must be a string, not a number',
      hint: undefined,
    },
    {
      file: 'agents/b.toml',
      line: 7,
      column: undefined,
      key: 'mcps[0].env.TOKEN',
      message: '"mcps[0].env.TOKEN" must be a string, not a number',
      hint: undefined,
    },
  ])
})

test('fileSchemas() describes every key of both files', () => {
  const { config, agent } = fileSchemas()
  assert.deepEqual(Object.keys(config['properties'] as object), [
    'model',
    'effort',
    'llm',
    'providers',
    'skills',
    'env',
    'permissions',
    'daemon',
    'mcp',
    'tui',
  ])
  assert.deepEqual(Object.keys(agent['properties'] as object), [
    'id',
    'description',
    'model',
    'max_iterations',
    'thinking',
    'effort',
    'mode',
    'skills',
    'tools',
    'tool_choice',
    'permissions',
    'components',
    'mcps',
  ])
  assert.equal(agent['required'], undefined)
})
