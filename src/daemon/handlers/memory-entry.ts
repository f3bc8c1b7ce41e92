import { CrabError } from '../../core/base/errors.ts'
import { fromIsoTime, toIsoTime } from '../../core/memory/time.ts'
import type { TreeEntry } from '../../core/memory/tree/load-tree.ts'
import type { MemoryEntry as Entry, MemoryKind as Kind } from '../../core/memory/types.ts'
import { type MemoryEntry, MemoryKind } from '../../core/protocol/crabtalk.generated.ts'

/** Converts an entry to its wire form. */
export function toWireEntry({ id, createdAt, kind, name, content, aliases }: Entry): MemoryEntry {
  return {
    id: Number(BigInt.asUintN(53, id)),
    createdAt: toIsoTime(createdAt),
    kind: toWireKind(kind),
    name,
    content,
    aliases: [...aliases],
  }
}

/** Converts an entry from its wire form. Throws `invalid` for an unknown kind or an invalid time. */
export function fromWireEntry(wire: MemoryEntry): Entry {
  const { id, name, content, aliases } = wire
  const createdAt = fromIsoTime(wire.createdAt)
  const kind = KINDS.get(wire.kind)
  const what = `Cannot read the entry "${name}"`
  if (createdAt === undefined) throw new CrabError('invalid', `${what}: created_at is not a timestamp`)
  if (kind === undefined) throw new CrabError('invalid', `${what}: unknown kind ${wire.kind}`)
  return { id: BigInt(id), createdAt, kind, name, content, aliases }
}

/** Converts an entry of a tree to the form that `replace_memory` takes. */
export function treeToWire({ createdAt, ...entry }: TreeEntry): MemoryEntry {
  const wire = toWireEntry({ ...entry, createdAt: createdAt ?? 0n })
  return createdAt === undefined ? { ...wire, createdAt: '' } : wire
}

function toWireKind(kind: Kind): MemoryKind {
  return WIRE_KINDS[kind]
}

/** Returns the kind for its number on the wire; undefined for an unknown number. */
export function fromWireKind(kind: MemoryKind): Kind | undefined {
  return KINDS.get(kind)
}

const WIRE_KINDS = {
  note: MemoryKind.NOTE,
  archive: MemoryKind.ARCHIVE,
  topic: MemoryKind.TOPIC,
} as const satisfies Record<Kind, MemoryKind>

const KINDS: ReadonlyMap<MemoryKind, Kind> = new Map(
  (['note', 'archive', 'topic'] as const).map((kind) => [WIRE_KINDS[kind], kind]),
)
