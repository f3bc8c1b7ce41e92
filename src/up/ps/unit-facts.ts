import { access } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { readKnownSpec } from '../supervisor/desired-state.ts'
import type { ServiceManager, ServiceSpec } from '../types.ts'
import { unitChange } from '../units/unit-change.ts'
import type { ServiceNote } from './notes.ts'

/** What a service manager was told to run, as it stands in the unit. */
export interface UnitFacts {
  argv: readonly string[]
  /** The PATH of the service. */
  path: string | undefined
  /** Somebody has changed the unit by hand. */
  isEdited: boolean
}

/** Reads the unit of a service; `folder` is that of our own supervisor. Undefined where there is none, or none that can be read. */
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

/** A program or a script of a unit that is not there any more: what starts next time fails. */
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
    message: `its unit runs ${file}, which is gone`,
    hint: `crabup ${name} restart writes it anew`,
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

/** Words of a systemd line: quotes and backslashes are taken off, and `%%` is a `%`. */
function splitUnitWords(line: string): string[] {
  const words = line.match(/(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\\.|[^\s"'\\])+/g) ?? []
  return words.map((word) => word.replaceAll(QUOTED, unquote).replaceAll('%%', '%'))
}

function unquote(_: string, double?: string, single?: string, escaped?: string): string {
  return escaped ?? (double ?? single ?? '').replaceAll(/\\(.)/g, '$1')
}

/** What is in the way of a program whose path systemd does not take as it is. */
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
