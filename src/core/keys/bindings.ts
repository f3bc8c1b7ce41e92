import type { KeymapPreset } from '../base/chat-settings.ts'
import { didYouMean } from '../base/nearest.ts'
import { parseChord } from './chord.ts'
import { KEYMAP, type KeyBinding, type KeyCondition, type KeymapCommand } from './keymap.ts'

/** The keys of the user: `[tui] keymap` and `[tui.keys]`. */
export interface KeySettings {
  keymap: KeymapPreset
  keys: Readonly<Record<string, readonly string[]>>
}

/** The active key table. */
export interface Keymap {
  preset: KeymapPreset
  /** The rows of the table with their active chords. */
  bindings: readonly (KeyBinding & { name: KeymapCommand })[]
  /** The command of each chord. */
  commands: ReadonlyMap<string, KeymapCommand>
  /** The commands that chords have before those while a condition holds. */
  conditional: ReadonlyMap<KeyCondition, ReadonlyMap<string, KeymapCommand>>
}

/** A problem with the keys of the user. */
export interface KeyIssue {
  /** The name in `[tui.keys]`. */
  name: string
  /** A sentence without a full stop. */
  message: string
  hint?: string
}

/** Builds the key table of these settings. Names and chords that are not valid are left out. */
export function makeKeymap({ keymap: preset, keys }: KeySettings): Keymap {
  const own = readOwnKeys(keys)
  const presetKeys = PRESETS[preset]
  const bindings = KEYMAP.map((row: KeyBinding & { name: KeymapCommand }) => {
    const isFree = (chord: string) => !isClaimed(chord, row.when, own.chords)
    const free = (presetKeys[row.name] ?? row.keys).filter(isFree)
    return { ...row, keys: own.chords.get(row.name) ?? free }
  })
  const toCommands = (when: KeyCondition | undefined) => {
    const commands = new Map<string, KeymapCommand>()
    for (const { name, keys: chords } of bindings.filter((row) => row.when === when))
      for (const chord of chords) if (!commands.has(chord)) commands.set(chord, name)
    return commands
  }
  const conditional = new Map(CONDITIONS.map((when) => [when, toCommands(when)] as const))
  return { preset, bindings, commands: toCommands(undefined), conditional }
}

/** The conditions under which a chord can have another command, in the order in which they are asked. */
export const CONDITIONS: readonly KeyCondition[] = ['turn', 'empty']

/** Whether the user gave a chord to a command that applies under the same condition. */
function isClaimed(chord: string, when: KeyCondition | undefined, chords: OwnKeys['chords']): boolean {
  const rows: readonly KeyBinding[] = KEYMAP
  return rows.some((row) => {
    const own = chords.get(row.name as KeymapCommand)
    return row.when === when && own?.includes(chord) === true
  })
}

/** Returns what is wrong with the keys of the user: unknown names and chords, and conflicts. */
export function findKeyIssues(settings: KeySettings): KeyIssue[] {
  const { issues, chords } = readOwnKeys(settings.keys)
  const { bindings } = makeKeymap(settings)
  const lost = bindings.flatMap(({ name, keys }) => {
    if (keys.length > 0 || chords.has(name)) return []
    const before = PRESETS[settings.keymap][name] ?? KEYMAP.find((row) => row.name === name)!.keys
    const [taker, taken] = [...chords].find(([, own]) => own.some((chord) => before.includes(chord)))!
    const key = taken.find((chord) => before.includes(chord))!
    return [
      {
        name: taker,
        message: `"${key}" was the only key of "${name}", which has none now`,
        hint: `give it another: ${name} = ["…"]`,
      },
    ]
  })
  return [...issues, ...lost]
}

interface OwnKeys {
  chords: ReadonlyMap<KeymapCommand, readonly string[]>
  issues: KeyIssue[]
}

function readOwnKeys(keys: KeySettings['keys']): OwnKeys {
  const owners = new Map<string, string>()
  const chords = new Map<KeymapCommand, string[]>()
  const issues: KeyIssue[] = []
  for (const [name, written] of Object.entries(keys)) {
    const row = KEYMAP.find((one) => one.name === name)
    if (!row) {
      issues.push({ name, message: `unknown action "${name}"`, ...toHint(name) })
      continue
    }
    const own: string[] = []
    for (const text of written) {
      const chord = parseChord(text)
      const owner = chord.ok ? owners.get(chord.value) : undefined
      if (!chord.ok) issues.push({ name, message: `"${text}" is not a key: ${chord.why}` })
      else if (owner !== undefined) {
        issues.push({
          name,
          message: `"${text}" is also the key of "${owner}"`,
          hint: 'the first one counts',
        })
      } else {
        owners.set(chord.value, name)
        own.push(chord.value)
      }
    }
    chords.set(row.name, own)
  }
  return { chords, issues }
}

function toHint(name: string): { hint: string } {
  const names = KEYMAP.map((row) => row.name)
  return { hint: didYouMean(name, names) ?? '/keys lists the names of all actions' }
}

type PresetKeys = Readonly<Partial<Record<KeymapCommand, readonly string[]>>>

/** The keys that Emacs uses for something other than the default preset does. */
const EMACS: PresetKeys = {
  escape: ['escape', 'ctrl+g'],
  'edit-externally': ['ctrl+alt+g'],
  'background-turn': ['ctrl+alt+b'],
  'toggle-thinking': ['ctrl+alt+t'],
  transpose: ['ctrl+t', 'alt+t'],
}

/** The chords of each preset that differ from the key table. Normal mode of `vim` is not in the table. */
const PRESETS: Readonly<Record<KeymapPreset, PresetKeys>> = { default: {}, vim: {}, emacs: EMACS }
