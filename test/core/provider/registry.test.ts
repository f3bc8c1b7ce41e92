import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { demoSource } from '../../../src/core/provider/demo.ts'
import { ModelRegistry } from '../../../src/core/provider/registry.ts'
import type { ModelSource } from '../../../src/core/provider/source.ts'
import { collect, joinText, modelRequest } from '../../support/model-calls.ts'

const NEVER = new AbortController().signal

test('ModelRegistry calls a model at the source that declares it', async () => {
  const registry = makeRegistry(source('a', ['one']), source('b', ['two']))
  assert.equal(await readAnswer(registry, 'one'), 'a:one')
  assert.equal(await readAnswer(registry, 'two'), 'b:two')
})

test('ModelRegistry rejects a name that is declared twice, and keeps nothing of the second source', () => {
  const registry = makeRegistry(source('a', ['one']))
  assert.throws(() => registry.add(source('b', ['two', 'one'])), {
    kind: 'config',
    message: 'Cannot add model "one" of provider "b" (config.toml:b): "a" (config.toml:a) already has it',
  })
  assert.throws(() => registry.add(source('c', ['x', 'x'])), { kind: 'config' })
  assert.throws(() => registry.add(source('a', ['y'])), { kind: 'config' })
  assert.deepEqual(
    registry.list().map(({ name }) => name),
    ['one'],
  )
})

test('ModelRegistry accepts source/name, and names that contain a slash', async () => {
  const registry = makeRegistry(source('a', ['one', 'vendor/three']), source('b', undefined))
  assert.equal(await readAnswer(registry, 'a/one'), 'a:one')
  assert.equal(await readAnswer(registry, 'vendor/three'), 'a:vendor/three')
  assert.equal(await readAnswer(registry, 'b/whatever'), 'b:whatever')
  assert.equal(await readAnswer(registry, 'vendor/else'), 'b:vendor/else')
})

test('ModelRegistry assigns an undeclared name to the open source it resembles, or to the first', async () => {
  const registry = makeRegistry(
    source('a', undefined, { owns: /^claude-/ }),
    source('b', undefined, { owns: /^gpt-/ }),
  )
  assert.equal(await readAnswer(registry, 'gpt-9'), 'b:gpt-9')
  assert.equal(await readAnswer(registry, 'claude-9'), 'a:claude-9')
  assert.equal(await readAnswer(registry, 'llama-9'), 'a:llama-9')
})

test('ModelRegistry lists models, and the nearest one, for an unknown name', () => {
  const registry = makeRegistry(source('a', ['sonnet', 'haiku']))
  assert.throws(() => registry.complete(modelRequest({ model: 'sonet' }), NEVER), {
    kind: 'config',
    message: 'Cannot find model "sonet": it is not one of sonnet, haiku',
    hint: 'did you mean "sonnet"?',
  })
  const missing = new ModelRegistry({ hint: 'connect one' })
  assert.throws(() => missing.commit('x'), {
    kind: 'config',
    hint: 'connect one',
    message: /none is configured$/,
  })
  const many = makeRegistry(
    source(
      'a',
      Array.from({ length: 30 }, (_, at) => `model-${at}`),
    ),
  )
  assert.throws(() => many.commit('zzz'), { message: /model-11, …$/ })
})

test('ModelRegistry switches its default, and says why it is missing', () => {
  const registry = makeRegistry(source('a', ['one', 'two']))
  assert.equal(registry.defaultModel(), 'one')
  registry.commit('two')
  assert.equal(registry.defaultModel(), 'two')
  assert.deepEqual(
    registry.list().map(({ name, active }) => [name, active]),
    [
      ['one', false],
      ['two', true],
    ],
  )
  assert.throws(() => registry.commit('three'), { kind: 'config' })
  assert.equal(registry.defaultModel(), 'two')
  const empty = makeRegistry(source('a', undefined))
  assert.throws(() => empty.defaultModel(), { kind: 'config' })
  empty.setDefaultError(new CrabError('unavailable', 'Cannot ask'))
  assert.throws(() => empty.defaultModel(), { kind: 'unavailable', message: 'Cannot ask' })
})

test('ModelRegistry adds and removes sources while it is used', async () => {
  const registry = makeRegistry(source('a', ['one']), source('b', ['two']))
  registry.commit('one')
  registry.remove('a')
  assert.throws(() => registry.complete(modelRequest({ model: 'one' }), NEVER), { kind: 'config' })
  assert.equal(registry.defaultModel(), 'two')
  registry.add(source('a', ['one']))
  assert.equal(await readAnswer(registry, 'one'), 'a:one')
  registry.remove('nobody')
})

test('ModelRegistry lists declared, suggested and chosen models once each', () => {
  const registry = makeRegistry(source('a', ['one']), source('b', undefined, { suggests: 'two' }))
  registry.commit('three')
  assert.deepEqual(
    registry.list().map(({ name, provider, active }) => `${provider}:${name}${active ? '*' : ''}`),
    ['a:one', 'b:two', 'b:three*'],
  )
})

test('listAll() asks the open sources, and reports which could not list their models', async () => {
  const trouble = new CrabError('unavailable', 'Cannot reach c')
  const registry = makeRegistry(
    source('a', ['one']),
    source('b', undefined, { listModels: async () => [{ name: 'one' }, { name: 'two' }] }),
    source('c', undefined, { listModels: () => Promise.reject(trouble) }),
  )
  const { models, failures } = await registry.listAll(NEVER)
  assert.deepEqual(
    models.map(({ name, provider }) => `${provider}:${name}`),
    ['a:one', 'b:two'],
  )
  assert.deepEqual(failures, [trouble])
})

test('ModelRegistry prefers declared facts of a model to known ones', () => {
  const declared = { name: 'claude-haiku-4-5', facts: { context: 1000, inputUsd: 7 } }
  const registry = makeRegistry({ ...source('a', undefined), models: [declared] })
  assert.deepEqual(registry.facts('claude-haiku-4-5'), {
    context: 1000,
    inputUsd: 7,
    outputUsd: 5,
    cacheReadUsd: 0.1,
    cacheWriteUsd: 1.25,
  })
  assert.deepEqual(registry.facts('nobody-knows'), {})
  const usage = { input: 1_000_000, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
  assert.equal(registry.costUsd('claude-haiku-4-5', usage), 7)
  assert.equal(registry.costUsd('nobody-knows', usage), undefined)
})

test('ModelRegistry holds the demo like any other source', async () => {
  const registry = makeRegistry(demoSource())
  assert.equal(registry.defaultModel(), 'demo')
  assert.equal(
    registry.costUsd('demo', { input: 9, output: 9, cache_read: 0, cache_write: 0, reasoning: 0 }),
    0,
  )
  assert.notEqual(await readAnswer(registry, 'demo'), '')
})

function makeRegistry(...sources: ModelSource[]): ModelRegistry {
  const registry = new ModelRegistry()
  for (const item of sources) registry.add(item)
  return registry
}

/** Returns a source that answers `name:model`; open when it declares no models. */
function source(name: string, models: string[] | undefined, more: Partial<ModelSource> = {}): ModelSource {
  return {
    name,
    where: `config.toml:${name}`,
    models: (models ?? []).map((model) => ({ name: model, facts: {} })),
    isOpen: models === undefined,
    async *complete({ model }) {
      yield { type: 'text', delta: `${name}:${model}` }
      yield { type: 'finish', reason: 'stop', usage: undefined }
    },
    ...more,
  }
}

async function readAnswer(registry: ModelRegistry, model: string): Promise<string> {
  return joinText(await collect(registry.complete(modelRequest({ model }), NEVER)))
}
