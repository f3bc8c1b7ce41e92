import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../../src/core/base/log.ts'
import { Announcement, takeKey } from '../../../src/mcp/component/announcement.ts'
import { serveTools } from '../../../src/mcp/component/serve-component.ts'
import type { ComponentTool } from '../../../src/mcp/component/types.ts'
import { HTTP_CLIENTS } from '../../support/component/http-clients.ts'
import { madeHome, startServed } from '../../support/component/served-component.ts'
import { freePort } from '../../support/component.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

test('a component announces its address while it serves, and removes the file afterwards', async () => {
  await using home = await madeHome()
  const { run } = home.paths
  await using served = await startServed(home)
  assert.equal(readFileSync(join(run, 'dice.port'), 'utf8'), `${served.port}\n`)
  assert.match(served.key, /^[\w-]{43}$/)
  assert.deepEqual(
    ['', 'dice.key', 'dice.port'].map((file) => statSync(join(run, file)).mode & 0o777),
    [0o700, 0o600, 0o600],
  )
  served.end()
  await served.ended
  assert.deepEqual(readdirSync(run), [])
})

test('when several components start together one serves, and the others say which', async () => {
  await using home = await madeHome()
  const starts = await Promise.allSettled(
    Array.from({ length: 5 }, () => startServed(home, [], { lookMs: 20 })),
  )
  const served = starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []))
  const refused = starts.flatMap((start) => (start.status === 'rejected' ? start.reason : []))
  assert.deepEqual(
    refused.map(({ kind }) => kind),
    ['conflict', 'conflict', 'conflict', 'conflict'],
  )
  assert.equal(served.length, 1)
  await using winner = served[0]!
  assert.match(refused[0].message, new RegExp(`it is already running, pid 4321, port ${winner.port}$`))
  assert.equal(readFileSync(join(home.paths.run, 'dice.port'), 'utf8'), `${winner.port}\n`)
  assert.equal(readFileSync(join(home.paths.run, 'dice.key'), 'utf8'), `${winner.key}\n`)
})

test('files of a dead component do not block a new one, also when nothing can listen there', async () => {
  await using home = await madeHome()
  await using silent = await listening(() => {})
  await using other = await listening('{"name":"other","version":"1","pid":1,"started":""}')
  await using page = await listening('<p>')
  await using endless = await listening('x'.repeat(100_000))
  for (const text of [await freePort(), other.port, page.port, endless.port, 99_999, 'soon', '', -1]) {
    await home.write('run/dice.port', `${text}\n`)
    await using served = await startServed(home)
    assert.equal(readFileSync(join(home.paths.run, 'dice.port'), 'utf8'), `${served.port}\n`)
  }
  await home.write('run/dice.port', `${silent.port}\n`) // a hanging component gets a moment to answer
  await using served = await startServed(home)
  assert.ok(served.port > 0)
})

test('an existing key is kept if it is private', async () => {
  await using home = await madeHome()
  const path = join(home.paths.run, 'dice.key')
  const old = 'k'.repeat(43)
  await home.write('run/dice.key', `${old}\n`)
  await chmod(path, 0o600)
  {
    await using served = await startServed(home)
    assert.equal(served.key, old)
  }
  for (const [text, mode] of [
    [old, 0o644],
    ['short', 0o600],
    ['', 0o600],
  ] as const) {
    await home.write('run/dice.key', text)
    await chmod(path, mode)
    await using served = await startServed(home)
    assert.notEqual(served.key, old)
    assert.equal(statSync(path).mode & 0o777, 0o600)
  }
})

test('files that others remove or change are repaired', async () => {
  await using home = await madeHome()
  const { run } = home.paths
  await using served = await startServed(home, [], { lookMs: 5 })
  const areRestored = () =>
    read(join(run, 'dice.port')) === `${served.port}\n` && read(join(run, 'dice.key')) === `${served.key}\n`
  await rename(run, `${run}.old`) // immediately, so that it cannot write in between
  await until('both are back', areRestored)
  await writeFile(join(run, 'dice.key'), 'other')
  await until('the key is back', areRestored)
  await writeFile(join(run, 'dice.port'), `${await freePort()}\n`)
  await until('the port is back', areRestored)
  replaceByFile(run)
  await until('it is told', () => served.logged.some((line) => /^warn Cannot .*run/.test(line)))
  await rm(run)
  await until('both are back again', areRestored)
})

/** Replaces a folder by a file; retries when the owner of the folder created it again first. */
function replaceByFile(folder: string): void {
  for (let tries = 0; ; tries += 1) {
    renameSync(folder, `${folder}.away-${tries}`)
    try {
      writeFileSync(folder, 'in the way', { flag: 'wx' })
      return
    } catch (reason) {
      if (tries === 100 || !['EEXIST', 'EISDIR'].includes((reason as NodeJS.ErrnoException).code!))
        throw reason
    }
  }
}

test('a component that another one replaced ends with a conflict, and keeps the files of the other', async () => {
  await using home = await madeHome()
  await using other = await madeHome()
  await using first = await startServed(home, [], { lookMs: 5 })
  await using second = await startServed(other)
  await home.write('run/.dice.new', `${second.port}\n`)
  await rename(join(home.paths.run, '.dice.new'), join(home.paths.run, 'dice.port'))
  await assert.rejects(first.ended, { kind: 'conflict', message: /it is already running, pid 4321/ })
  assert.equal(readFileSync(join(home.paths.run, 'dice.port'), 'utf8'), `${second.port}\n`)
  assert.ok(existsSync(join(home.paths.run, 'dice.key')))
})

test('a component that is stopped before it serves takes nothing from one that serves', async () => {
  await using home = await madeHome()
  await using first = await startServed(home)
  const { home: path, run } = home.paths
  const place = { home: path, run, pid: 1, log: silentLog, now: Date.now }
  await serveTools({ name: 'dice', version: '1', description: '', tools: [] }, place, AbortSignal.abort())
  assert.equal(readFileSync(join(run, 'dice.port'), 'utf8'), `${first.port}\n`)
})

test('a component whose home is removed ends, and creates nothing', async () => {
  await using home = await madeHome()
  await using served = await startServed(home, [], { lookMs: 5 })
  await rename(home.paths.home, `${home.paths.home}.old`)
  await assert.rejects(served.ended, { kind: 'config', message: /its home .* is gone/ })
  assert.equal(existsSync(home.paths.home), false)
})

test('a missing home and a file in its place are named in the error', async () => {
  await using nowhere = await temporaryHome()
  await assert.rejects(startServed(nowhere), { kind: 'config', hint: /set CRABTALK_HOME/ })
  assert.equal(existsSync(nowhere.paths.home), false)
  await using home = await madeHome()
  await writeFile(home.paths.run, '')
  await assert.rejects(startServed(home), { kind: 'storage', message: /run.*: a (part|file)/ })
  await rm(home.paths.run)
  await mkdir(join(home.paths.run, 'dice.port', 'x'), { recursive: true })
  await assert.rejects(startServed(home), { kind: 'storage', message: /Cannot replace .*dice\.port/ })
})

test('an old port file with the port of the starting component does not count as another component', async () => {
  await using home = await madeHome()
  await using listener = await listening('{"name":"dice","version":"1","pid":1,"started":""}')
  await home.write('run/dice.port', `${listener.port}\n`)
  const at = { name: 'dice', home: home.paths.home, run: home.paths.run }
  const announcement = await Announcement.make(
    at,
    { port: listener.port, key: await takeKey(at) },
    new AbortController().signal,
  )
  announcement.withdraw()
  assert.deepEqual(readdirSync(home.paths.run), [])
})

test('running calls finish when the component ends', async () => {
  await using home = await madeHome()
  const callStarted = Promise.withResolvers<void>()
  const go = Promise.withResolvers<string>()
  const slow = tool((_, { signal }) => {
    signal.addEventListener('abort', () => go.reject(new Error('it was cut')))
    callStarted.resolve()
    return go.promise
  })
  await using served = await startServed(home, [slow], { graceMs: 60_000 })
  await using host = await HTTP_CLIENTS['SDK 2.x, 2026-07-28']!(served)
  const call = host.call('slow')
  await callStarted.promise
  served.end()
  await until('the files are gone', () => !existsSync(join(home.paths.run, 'dice.port')))
  await assert.rejects(fetch(`http://127.0.0.1:${served.port}/health`))
  go.resolve('done')
  assert.deepEqual((await call)['content'], [{ type: 'text', text: 'done' }])
  await served.ended
})

test('calls that take too long at the end are cancelled, may still answer, and are cut off at last', async () => {
  await using home = await madeHome()
  const callStarted = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const stops = tool(async (_, { signal }) => {
    callStarted[0].resolve()
    await once(signal, 'abort')
    return 'not all'
  })
  const endless = tool(() => {
    callStarted[1].resolve()
    return new Promise(() => {})
  })
  await using served = await startServed(home, [stops, { ...endless, name: 'endless' }], { graceMs: 1 })
  await using host = await HTTP_CLIENTS['SDK 2.x, 2026-07-28']!(served)
  const call = host.call('slow')
  const lost = assert.rejects(host.call('endless'))
  await Promise.all(callStarted.map(({ promise }) => promise))
  served.end()
  assert.deepEqual((await call)['content'], [{ type: 'text', text: 'not all' }])
  await served.ended
  await lost
})

function tool(run: ComponentTool['run']): ComponentTool {
  return { name: 'slow', description: '', run }
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** Starts a server that answers everything with a text, or not at all. */
async function listening(answer: string | (() => void)): Promise<{ port: number } & AsyncDisposable> {
  const server: Server = createServer((_, response) => {
    if (typeof answer === 'string') response.end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
