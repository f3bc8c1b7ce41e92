import { join } from 'node:path'
import { sha256 } from '../base/sha256.ts'
import { classifyTurn } from './trust.ts'
import type { Rule, Trust } from './types.ts'

/** The rights of a class of turns, before any rule. */
export interface ClassRights {
  /** The folder that its turns work in: that of the conversation, or one below `workspace/`, named by the pair or by the class. */
  folder: 'conversation' | 'pair' | 'class'
  /** The tables of rules whose `allow` and `ask` hold for it; `deny` and `ask` of `[permissions]` hold for every class. */
  table: 'permissions' | 'permissions.unattended' | 'permissions.remote'
  /** Whether the user may widen it: by options, modes, session grants, and the directory of the conversation. */
  canWiden: boolean
  /** Tools that no rule allows it. */
  never: readonly string[]
  /** Whether it changes files of its folder where no rule matches. */
  edits: boolean
  /** Whether it uses the memory of the agent where no rule matches. */
  remembers: boolean
  /** The decision for any other call that no rule matches. */
  otherwise: 'ask' | 'deny'
  /** The skills that it reaches: any that the agent may use, or only those that the agent's file names. */
  skills: 'any' | 'named'
  /** Whether its message may name resources of MCP servers. */
  namesResources: boolean
  /** The notices that its stream has: all, or only those about its own conversation. Errors name no files and servers then, either. */
  notices: 'all' | 'own'
  /** Whether its end is published as an event, which may start turns of the unattended class. */
  publishes: boolean
  /** Whether the client of the turn may be asked for permission; else only a parked question can, which the user answers. */
  asksClient: boolean
}

/** The rights of each class. */
export const CLASS_RIGHTS: Readonly<Record<Trust, ClassRights>> = {
  local: {
    folder: 'conversation',
    table: 'permissions',
    canWiden: true,
    never: [],
    edits: false,
    remembers: true,
    otherwise: 'ask',
    asksClient: true,
    skills: 'any',
    namesResources: true,
    notices: 'all',
    publishes: true,
  },
  unattended: {
    folder: 'class',
    table: 'permissions.unattended',
    canWiden: false,
    never: [],
    edits: false,
    remembers: true,
    otherwise: 'ask',
    asksClient: false,
    skills: 'any',
    namesResources: false,
    notices: 'all',
    publishes: true,
  },
  remote: {
    folder: 'pair',
    table: 'permissions.remote',
    canWiden: false,
    never: ['bash', 'fetch'],
    edits: true,
    remembers: false,
    otherwise: 'deny',
    asksClient: false,
    skills: 'named',
    namesResources: false,
    notices: 'own',
    publishes: false,
  },
}

/**
 * Gives the rules that hold for turns of a class: those of its own table, and every rule of the user that restricts. What
 * the user allows in `[permissions]`, by an option or for a conversation holds for local turns only.
 */
export function rulesFor(trust: Trust, rules: readonly Rule[]): Rule[] {
  return rules.filter(({ effect, for: only }) => {
    return only === undefined ? trust === 'local' || effect !== 'allow' : only === trust
  })
}

/**
 * Gives the test of which senders' conversations a turn may search: all of this user's own for a local turn, exactly its
 * own sender's for any other.
 */
export function ownSenders(trust: Trust, sender: string): (other: string) => boolean {
  if (trust !== 'local') return (other) => other === sender
  return (other) => other === sender || classifyTurn('local', other) === 'local'
}

/** The conversation that a turn belongs to. */
export interface TurnPair {
  /** The agent's name. */
  agent: string
  agentId: string
  sender: string
}

/**
 * Gives the folder that a turn of a class works in, below `workspace/` of the home; undefined for a local turn, which
 * works in the directory of its conversation.
 *
 * A remote turn has `<agent>/<16 hex digits of its pair>/`, an unattended one `<agent>/unattended/`. Neither holds the
 * other, and no sender becomes a part of a path.
 */
export function turnFolder(
  workspaces: string,
  { agent, agentId, sender }: TurnPair,
  trust: Trust,
): string | undefined {
  const { folder } = CLASS_RIGHTS[trust]
  if (folder === 'conversation') return undefined
  const pairId = () => sha256(`${agentId}\0${sender}`).toString('hex').slice(0, 16)
  return join(workspaces, agent, folder === 'class' ? trust : pairId())
}
