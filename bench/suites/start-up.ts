import { NODE } from '../floors.ts'
import { interleave, type Program } from '../harness.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import type { Column, Mark } from '../table.ts'

/** The columns of whole processes. */
export const PROCESS: readonly Column[] = [
  { key: 'wallMs', title: 'wall ms', digits: 1 },
  { key: 'cpuMs', title: 'CPU ms', digits: 1 },
  { key: 'rssMb', title: 'peak RSS MB' },
]

/** Measures commands that start without a request to a model. */
export async function startUp({ binary, rounds, cwd, env }: Setting): Promise<SuiteResult> {
  const crabtalk = (args: string, most: number | undefined): Program & { marks: Record<string, Mark> } => ({
    name: `crabtalk ${args}`,
    command: binary,
    args: args.split(' '),
    env,
    marks: { wallMs: { floor: NODE.name, above: true, ...(most && { most }) } },
  })
  const programs: (Program & { marks?: Record<string, Mark> })[] = [
    NODE,
    crabtalk('--version', 1),
    crabtalk('--help', 6),
    crabtalk('agent list', undefined),
  ]
  const figures = await interleave(programs, { rounds, cwd })
  return {
    columns: PROCESS,
    lines: programs.map(({ name, marks }) => ({ name, values: { ...figures.get(name)! }, marks })),
  }
}
