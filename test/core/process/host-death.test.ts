import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ProcessCommand } from '../../../src/core/process/types.ts'
import { livingWith } from '../../support/orphans.ts'
import { markedScript } from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

const PROGRAMS = {
  'a good program': 'echo ready; exec cat',
  'a stubborn program': "trap '' TERM INT HUP QUIT; echo ready; while :; do sleep 1; done",
}
const WRAPS = {
  'started directly': (script: string) => script,
  'behind sh -c': (script: string) => `sh -c "${script}"; true`,
}
const DEATHS: Record<string, (host: ChildProcess) => void> = {
  exits: (host) => host.stdin!.write('exit\n'),
  'disposes and exits': (host) => host.stdin!.write('dispose\n'),
  'releases all and exits': (host) => host.stdin!.write('release\n'),
  'gets INT': (host) => host.kill('SIGINT'),
  'gets TERM': (host) => host.kill('SIGTERM'),
  'gets KILL': (host) => host.kill('SIGKILL'),
}

describe('nothing is left when the host of', { concurrency: 6 }, () => {
  for (const [program, script] of Object.entries(PROGRAMS)) {
    for (const [way, wrap] of Object.entries(WRAPS)) {
      for (const [death, die] of Object.entries(DEATHS)) {
        test(`${program} ${way} ${death}`, () => leavesNothing([wrap(script)], die))
      }
    }
  }

  for (const [death, die] of Object.entries(DEATHS)) {
    test(`a program that left a child in the background ${death}`, () =>
      leavesNothing(['sleep 600 & echo ready'], die))

    test(`a program that left a child in another session ${death}`, () =>
      leavesNothing(['setsid sleep 600 & sleep 0.1; echo ready'], die))
  }

  test('30 programs gets KILL', () =>
    leavesNothing(Array(30).fill('echo ready; exec sleep 600'), DEATHS['gets KILL']!))
})

async function leavesNothing(scripts: string[], die: (host: ChildProcess) => void): Promise<void> {
  const { word, command } = markedScript('')
  const commands: ProcessCommand[] = scripts.map((script) => ({
    ...command,
    argv: ['/bin/sh', '-c', script],
  }))
  const host = spawn(process.execPath, [PROGRAM, JSON.stringify(commands)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(host, 'exit')
  const [line] = await once(host.stdout, 'data')
  assert.match(String(line), /^started( \d+)+\n$/)
  assert.ok((await livingWith(word)).length >= scripts.length)
  die(host)
  await exited
  await until('nothing is left', async () => (await livingWith(word)).length === 0)
}

const PROGRAM = join(import.meta.dirname, 'host-program.ts')
