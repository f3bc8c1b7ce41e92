import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { curlProgram, fetchProgram } from '../floors.ts'
import { interleave, type Program } from '../harness.ts'
import { END } from '../markdown.ts'
import { installed, type Setting, type SuiteResult } from '../setting.ts'
import type { Mark } from '../table.ts'
import { PROCESS } from './start-up.ts'

type Streaming = Program & { marks?: Record<string, Mark> }

const LOOP = "the provider package's stream alone"
const SLOW_FETCH = 'node, one fetch, 2 s'
const FLOOD = 'flood 20000'
const DRIP = 'drip 21 100'

/**
 * Measures an answer of 20,000 chunks, 1 MB, as fast as the server sends it, and the first byte of an answer
 * of two seconds.
 */
export async function streaming(setting: Setting): Promise<SuiteResult> {
  const { rounds, cwd, scratch } = setting
  const loop = join(scratch, 'stream-loop.mjs')
  await bundle('stream-loop.ts', loop)
  const programs = installed(streamPrograms(setting, loop))
  const figures = await interleave(programs, { rounds, cwd })
  return {
    columns: [...PROCESS, { key: 'firstByteMs', title: 'first byte ms', digits: 1 }],
    lines: programs.map(({ name, marks }) => ({ name, values: { ...figures.get(name)! }, marks })),
  }
}

function streamPrograms({ binary, env, rounds, model: { url } }: Setting, loop: string): Streaming[] {
  const expects = new RegExp(END)
  const ratio = { floor: LOOP, most: 1.5 }
  const send = (name: string, content: string, marks: Record<string, Mark>): Streaming => ({
    name,
    command: binary,
    args: ['send', '--model', 'loopback-openai', content],
    env,
    expects,
    marks,
  })
  const slow = <P extends Program>(program: P) => ({ ...program, expects, rounds: Math.min(rounds, 5) })
  return [
    { ...curlProgram('curl', url, FLOOD), expects },
    { ...fetchProgram('node, one fetch', url, FLOOD), expects },
    { name: LOOP, command: process.execPath, args: [loop, url, FLOOD], expects },
    send('crabtalk send', FLOOD, { wallMs: ratio, cpuMs: ratio, rssMb: { floor: LOOP } }),
    slow(curlProgram('curl, 2 s', url, DRIP)),
    slow(fetchProgram(SLOW_FETCH, url, DRIP)),
    slow(send('crabtalk send, 2 s', DRIP, { firstByteMs: { floor: SLOW_FETCH, most: 1.35 } })),
  ]
}
