import { access } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { readKnownSpec } from '../supervisor/desired-state.ts'
import type { ServiceManager, ServiceSpec } from '../types.ts'
import { unitChange } from '../units/unit-change.ts'
import type { ServiceNote } from './notes.ts'

/** The command that a service manager runs, as read from the unit. */
export interface UnitFacts {
  argv: readonly string[]
  /** The PATH of the service. */
  path: string | undefined
  /** Whether the unit was edited by hand. */
  isEdited: boolean
}

/**
 * Reads the unit of a service; `folder` is the one of crabup's own supervisor. Returns undefined when the
 * unit is missing or unreadable.
 */
export async function readUnitFacts(
  spec: ServiceSpec,
  { manager, folder }: { manager: Pick<ServiceManager, 'kind' | 'unit'>; folder: string },
): Promise<UnitFacts | undefined> {
  if (manager.kind === 'supervisor' || manager.kind === 'schtasks') {
    const known = readKnownSpec(folder, spec.name)
    return known && { argv: known.argv, path: known.env['PATH'], isEdited: false }
  }
  const unit = manager.unit(spec)
  const change = unit && (await unitChange(unit).catch(() => undefined)) // it cannot be read
  if (!change || change.kind === 'new') return undefined
  const parsed = manager.kind === 'launchd' ? parsePlist(change.before) : parseSystemd(change.before)
  return { ...parsed, isEdited: change.kind === 'edited' }
}

/** Notes a program or script of a unit that no longer exists: the next start would fail. */
export async function missingFileNotes(
  name: string,
  { argv }: Pick<UnitFacts, 'argv'>,
): Promise<ServiceNote[]> {
  const files = argv.filter((word, index) => isAbsolute(word) && (index === 0 || /\.[cm]?[jt]s$/.test(word)))
  const found = await Promise.all(
    files.map((file) =>
      access(file).then(
        () => [],
        () => [file],
      ),
    ),
  )
  return found.flat().map((file) => ({
    message: `its unit runs ${file}, which does not exist`,
    hint: `crabup ${name} restart rewrites it`,
  }))
}

function parseSystemd(text: string): Pick<UnitFacts, 'argv' | 'path'> {
  const lines = text.split('\n')
  const command = lines.findLast((line) => line.startsWith('ExecStart=')) ?? ''
  const argv = splitUnitWords(command.slice('ExecStart='.length)).map((word) => word.replaceAll('$$', '$'))
  const variables = lines
    .filter((line) => line.startsWith('Environment='))
    .flatMap((line) => splitUnitWords(line.slice('Environment='.length)))
  return {
    argv: unwrapArgv(argv),
    path: variables.find((one) => one.startsWith('PATH='))?.slice('PATH='.length),
  }
}

/** Splits a systemd line into words: removes quotes and backslashes, and turns `%%` into `%`. */
function splitUnitWords(line: string): string[] {
  const words = line.match(/(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\\.|[^\s"'\\])+/g) ?? []
  return words.map((word) => word.replaceAll(QUOTED, unquote).replaceAll('%%', '%'))
}

function unquote(_: string, double?: string, single?: string, escaped?: string): string {
  return escaped ?? (double ?? single ?? '').replaceAll(/\\(.)/g, '$1')
}

/** Strips the wrapper around a program whose path systemd does not accept as it is. */
function unwrapArgv(argv: readonly string[]): readonly string[] {
  if (argv[0] === '/bin/sh' && argv[1] === '-c') return argv.slice(3)
  return argv[0]?.startsWith('@') ? argv.slice(1) : argv
}

function parsePlist(text: string): Pick<UnitFacts, 'argv' | 'path'> {
  const list = /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(text)?.[1] ?? ''
  const argv = [...list.matchAll(/<string>([\s\S]*?)<\/string>/g)].map(([, word = '']) => fromXml(word))
  const path = /<key>PATH<\/key>\s*<string>([\s\S]*?)<\/string>/.exec(text)?.[1]
  return { argv, path: path === undefined ? undefined : fromXml(path) }
}

function fromXml(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|apos|amp|#\d+|#x[0-9a-f]+);/gi, (whole, name: string) => {
    if (name.startsWith('#x')) return String.fromCodePoint(Number.parseInt(name.slice(2), 16))
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1)))
    return ENTITIES[name] ?? whole
  })
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
const QUOTED = /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|\\(.)/g
