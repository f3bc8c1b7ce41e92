import { join } from 'node:path'
import { sha256 } from '../base/sha256.ts'
import { classifyTurn } from './trust.ts'
import type { Rule, Trust } from './types.ts'

/** The rights of a class of turns before any rule applies. */
export interface ClassRights {
  /**
   * The folder in which its turns work: the one of the conversation, or one below `workspace/` named by the
   * pair or by the class.
   */
  folder: 'conversation' | 'pair' | 'class'
  /**
   * The table whose `allow` and `ask` rules apply to it; `deny` and `ask` of `[permissions]` apply to every
   * class.
   */
  table: 'permissions' | 'permissions.unattended' | 'permissions.remote'
  /**
   * Whether the user may extend its rights: by options, modes, session grants, and the directory of the
   * conversation.
   */
  canWiden: boolean
  /** Tools that no rule can allow for it. */
  never: readonly string[]
  /** Whether it may change files in its folder when no rule matches. */
  edits: boolean
  /** Whether it may use the agent's memory when no rule matches. */
  remembers: boolean
  /** The decision for any other call when no rule matches. */
  otherwise: 'ask' | 'deny'
  /** The skills it may use: any that the agent may use, or only those that the agent's file names. */
  skills: 'any' | 'named'
  /** Whether its message may reference resources of MCP servers. */
  namesResources: boolean
  /**
   * The notices in its stream: all, or only those about its own conversation. With `own`, errors do not name
   * files or servers either.
   */
  notices: 'all' | 'own'
  /** Whether its end is published as an event, which may start turns of the unattended class. */
  publishes: boolean
  /**
   * Whether the turn's client may be asked for permission. Otherwise a question must be parked for the user
   * to answer.
   */
  asksClient: boolean
}

/** The rights of each class (ADR 0145). */
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
 * Returns the rules that apply to turns of a class: those of its own table, and every restricting rule of the
 * user. What the user allows in `[permissions]`, by an option or for a conversation applies to local turns
 * only.
 */
export function rulesFor(trust: Trust, rules: readonly Rule[]): Rule[] {
  return rules.filter(({ effect, for: only }) => {
    return only === undefined ? trust === 'local' || effect !== 'allow' : only === trust
  })
}

/**
 * Returns a test for the senders whose conversations a turn may search: all of the user's own for a local
 * turn, only its own sender for any other.
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
 * Returns the folder in which a turn works, below `workspace/` of the home; undefined for a local turn, which
 * works in the directory of its conversation.
 *
 * A remote turn works in `<agent>/<16 hex digits of its pair>/`, an unattended one in `<agent>/unattended/`.
 * Neither contains the other, and a sender never becomes part of a path.
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
