import { join } from 'node:path'
import { CALLER } from '../../scripts/sea/scenarios.ts'
import { curlProgram, fetchProgram, NODE } from '../floors.ts'
import { interleave, type Program } from '../harness.ts'
import { mcpServer } from '../mcp.ts'
import { installed, type Setting, type SuiteResult } from '../setting.ts'
import type { Mark } from '../table.ts'
import { PROCESS } from './start-up.ts'

/** A program, its marks, and whether the size of its request is recorded. */
interface OneShot extends Program {
  marks?: Record<string, Mark>
  isSized?: boolean
}

const FETCH = 'node, one fetch'
const SERVER = 'MCP server alone, one call'

/** Measures one question and its answer, as a whole process, also for installed peers. */
export async function oneShot(setting: Setting): Promise<SuiteResult> {
  const { rounds, cwd, peers, model } = setting
  const programs = installed(ourPrograms(setting)).concat(
    peers.flatMap(({ name, command, env, oneShot }): OneShot[] => {
      const marks = { wallMs: { floor: FETCH }, cpuMs: { floor: FETCH } }
      return oneShot
        ? [{ name, command, env, marks, isSized: true, rounds: PEER_ROUNDS, mayFail: true, ...oneShot }]
        : []
    }),
  )
  const sizes = new Map<string, number>()
  const failures = new Map<string, string>()
  for (const program of programs.filter(({ isSized }) => isSized)) {
    const size = model.nextRequest()
    await interleave([program], { rounds: -1, cwd, failures })
    if (!failures.has(program.name)) sizes.set(program.name, await size)
  }
  const figures = await interleave(programs, { rounds, cwd, failures })
  const lines = programs.map(({ name, marks }) => {
    const requestBytes = sizes.get(name) ?? Number.NaN
    return { name, values: { ...figures.get(name)!, requestBytes }, marks, failure: failures.get(name) }
  })
  return { columns: [...PROCESS, { key: 'requestBytes', title: 'request bytes' }], lines }
}

/** The maximum rounds of peers, because they take seconds. */
const PEER_ROUNDS = 5

function ourPrograms({ binary, env, model: { url } }: Setting): OneShot[] {
  const send = (model: string, most?: number): OneShot => {
    const ratio = { floor: FETCH, ...(most && { most }) }
    return {
      name: `crabtalk send, ${model}`,
      command: binary,
      args: ['send', '--model', `loopback-${model}`, 'say hi'],
      env,
      expects: /^Hi there\.\n$/,
      marks: { wallMs: ratio, cpuMs: ratio, rssMb: { most: 90 }, requestBytes: { most: 4000 } },
      isSized: true,
    }
  }
  return [
    NODE,
    { ...fetchProgram(FETCH, url, 'say hi'), expects: /there/ },
    { ...curlProgram('curl', url, 'say hi'), expects: /there/ },
    send('openai', 1.35),
    send('anthropic', 1.35),
    send('responses'),
    send('gemini'),
    send('bedrock'),
    {
      name: SERVER,
      command: process.execPath,
      args: [join(import.meta.dirname, '../mcp-server.ts'), ...mcpServer()],
      expects: /Echo: hi/,
    },
    {
      name: 'crabtalk send, one MCP call',
      command: binary,
      args: ['send', '--model', 'loopback-openai', '-a', CALLER, 'call mcp__everything__echo'],
      env,
      expects: /^Hi there\.\n$/,
      marks: { wallMs: { floor: FETCH, beyond: SERVER, most: 1.5 }, rssMb: { most: 90 } },
      isSized: true,
    },
  ]
}
