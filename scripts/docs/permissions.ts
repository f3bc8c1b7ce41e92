import { CLASS_RIGHTS } from '../../src/core/policy/class-rights.ts'
import type { Trust } from '../../src/core/policy/types.ts'
import { wireName } from '../../src/core/protocol/dispatch.ts'
import type { Operation } from '../../src/core/protocol/operations.ts'
import { CALLERS, type Callers } from '../../src/daemon/handlers/callers.ts'
import { code, table } from './sections.ts'

/** The ways a client can reach an agent, in the order of the table. */
export const CLIENTS = [
  'in process',
  'socket',
  'socket, as `tg:1`',
  'socket, without hello',
  'TCP, token',
  'TCP, no token',
] as const

export type ClientKind = (typeof CLIENTS)[number]

/** The access of a client to an operation: everything, only its own, or nothing. */
export type Access = 'yes' | 'own' | 'no'

/** Returns the access of a client to an operation. */
export function findAccess(operation: Operation, client: ClientKind): Access {
  if (client === 'TCP, no token') return 'no'
  return client === 'TCP, token' ? OVER_TCP[CALLERS[operation]] : 'yes'
}

const OVER_TCP: Readonly<Record<Callers, Access>> = { any: 'yes', own: 'own', local: 'no' }

/** Renders the operations, grouping those of equal access in one row. */
export function operationsSection(): string {
  const operations = Object.keys(CALLERS) as Operation[]
  const rows = Map.groupBy(operations, (one) => CLIENTS.map((client) => findAccess(one, client)).join(' '))
  return table(
    ['operations', ...CLIENTS],
    [...rows.values()].map((group) => [
      group.map((one) => code(wireName(one))).join(', '),
      ...CLIENTS.map((client) => findAccess(group[0]!, client)),
    ]),
  )
}

/** Renders the rights of turns of each trust class. */
export function classesSection(): string {
  const row = (what: string, cell: (trust: Trust) => string) => [what, ...TRUSTS.map(cell)]
  return table(
    ['', ...TRUSTS],
    [
      row('turns of', (trust) => SENDERS[trust]),
      row('work in', (trust) => FOLDERS[CLASS_RIGHTS[trust].folder]),
      row('are allowed what', (trust) => ALLOWED[CLASS_RIGHTS[trust].table]),
      row('are restricted by', (trust) => RESTRICTED[CLASS_RIGHTS[trust].table]),
      row('change files there without a rule', (trust) => yesNo(CLASS_RIGHTS[trust].edits)),
      row('use the memory without a rule', (trust) => yesNo(CLASS_RIGHTS[trust].remembers)),
      row('use skills', (trust) => SKILLS[CLASS_RIGHTS[trust].skills]),
      row('are told in notices', (trust) => NOTICES[CLASS_RIGHTS[trust].notices]),
      row('publish `agent:NAME:done`', (trust) => yesNo(CLASS_RIGHTS[trust].publishes)),
      row('other calls without a rule', (trust) => OTHERWISE[otherwise(trust)]),
      row('are never allowed', (trust) => CLASS_RIGHTS[trust].never.map(code).join(', ') || 'nothing'),
    ],
  )
}

const TRUSTS = ['local', 'unattended', 'remote'] as const satisfies readonly Trust[]

const SENDERS: Readonly<Record<Trust, string>> = {
  local: 'names without a colon, `sh:…`',
  unattended: '`cron`, `event:…`, every schedule',
  remote: 'other names with a colon (`tg:1`), every TCP client',
}

const SKILLS = { any: 'all of the agent', named: "those that the agent's file names" }
const NOTICES = { all: 'everything', own: 'what is about their own conversation' }

const FOLDERS = {
  conversation: 'the directory of the conversation',
  pair: '`workspace/<agent>/<pair id>/`',
  class: '`workspace/<agent>/unattended/`',
} as const

const ALLOWED = {
  permissions: '`[permissions]`, options and your answers allow',
  'permissions.unattended': '`[permissions.unattended]` allows',
  'permissions.remote': '`[permissions.remote]` allows',
} as const

const RESTRICTED = {
  permissions: '`[permissions]` and options',
  'permissions.unattended': '`[permissions]`, `[permissions.unattended]`',
  'permissions.remote': '`[permissions]`, `[permissions.remote]`, options',
} as const

function otherwise(trust: Trust): keyof typeof OTHERWISE {
  const rights = CLASS_RIGHTS[trust]
  return rights.otherwise === 'deny' ? 'refused' : rights.asksClient ? 'asked' : 'parked'
}

const OTHERWISE = {
  asked: 'you are asked',
  parked: 'refused, unless the question is parked and you permit it',
  refused: 'refused',
} as const

function yesNo(is: boolean): string {
  return is ? 'yes' : 'no'
}
