import { posix } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { checkAgent } from '../../core/config/agent-schema.ts'
import { entryRules } from '../../core/config/entry-rules.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { type PermissionRule, toRules } from '../../core/config/permissions.ts'
import { parseToml, toFileIssues } from '../../core/config/toml.ts'
import { findUnfilledValues } from '../../core/config/unfilled-values.ts'
import { configError, formatPath } from '../../core/config/validation-issue.ts'
import { readFrontMatter } from '../../core/skills/front-matter.ts'
import { validateSkill } from '../../core/skills/scan-skills.ts'
import type { TarFile } from '../packages/tarball.ts'
import { PACKAGE_MANIFEST, type PackageManifest, readManifest } from './manifest.ts'
import type { TreeReader } from './tree.ts'

/** A file of a skill. */
export interface PkgFile {
  /** The path relative to the skill's folder. */
  path: string
  content: Buffer
  isExecutable: boolean
}

/** A skill of a package. */
export interface PkgSkill {
  /** The name of its folder below `skills/`. */
  folder: string
  name: string
  description: string
  /** The value of `allowed-tools` in its front matter as text; empty when absent. */
  allowedTools: string
  files: PkgFile[]
}

/** An agent of a package. */
export interface PkgAgent {
  name: string
  description: string
  model: string | undefined
  servers: readonly McpEntry[]
  /** The permission rules of the agent and of its servers. */
  rules: readonly PermissionRule[]
  components: boolean | readonly string[]
  /** The values of its servers that the user has to fill in, such as `github: env.TOKEN`. */
  placeholders: readonly string[]
  /** The agent file as text, and parsed as `table`. */
  text: string
  table: JsonObject
  /** The prompt file beside the agent file; undefined when there is none. */
  prompt: Buffer | undefined
}

/** The contents that a package would install. */
export interface PkgContents {
  manifest: PackageManifest
  skills: PkgSkill[]
  agents: PkgAgent[]
}

/**
 * Reads and checks the contents of a package; nothing is written. Throws `config` for an error inside a file,
 * and `invalid` for a missing, forbidden or oversized file.
 */
export async function readContents(readTree: TreeReader, signal: AbortSignal): Promise<PkgContents> {
  const listed = await readTree((path) => path === PACKAGE_MANIFEST, signal)
  const text = listed.find(({ path, isSpecial }) => path === PACKAGE_MANIFEST && !isSpecial)?.content
  if (!text) {
    throw new CrabError('invalid', `Cannot use this package: it has no ${PACKAGE_MANIFEST} at its root`, {
      hint: 'components, which run as services, are installed by crabup pull',
    })
  }
  const manifest = readManifest(text.toString())
  const isNamed = (path: string) =>
    manifest.skills.some((folder) => path.startsWith(`${folder}/`)) ||
    manifest.agents.some((file) => path === file || path === toPromptPath(file))
  const files = await readTree(isNamed, signal)
  const own = files.filter(({ path }) => isNamed(path))
  refuseUnsafeFiles(own)
  return {
    manifest,
    skills: manifest.skills.map((folder) => toSkill(folder, own)),
    agents: manifest.agents.map((file) => toAgent(file, own)),
  }
}

/**
 * Throws unless the installed parts are plain files, within the limits, with names that every platform
 * accepts.
 */
function refuseUnsafeFiles(files: readonly TarFile[]): void {
  const bytes = files.reduce((total, { size }) => total + size, 0)
  if (bytes > MAX_BYTES || files.length > MAX_FILES) {
    throw new CrabError(
      'invalid',
      `Cannot use this package: more than ${MAX_FILES} files or ${MAX_BYTES} bytes are in it`,
    )
  }
  const folded = new Set<string>()
  for (const { path, isSpecial } of files) {
    if (isSpecial) throw new CrabError('invalid', `Cannot use this package: ${path} is a link`)
    if (/[<>:"|?*\\\p{C}]|(^|\/)\.\.?(\/|$)/u.test(path)) {
      throw new CrabError(
        'invalid',
        `Cannot use this package: ${JSON.stringify(path)} is not a valid file name`,
      )
    }
    const key = path.normalize('NFC').toLowerCase()
    if (folded.has(key))
      throw new CrabError('invalid', `Cannot use this package: two files are named ${path}`)
    folded.add(key)
  }
}

function toSkill(folder: string, all: readonly TarFile[]): PkgSkill {
  const files = all.filter(({ path }) => path.startsWith(`${folder}/`))
  const main = files.find(({ path }) => path === `${folder}/SKILL.md`)?.content?.toString()
  if (main === undefined)
    throw new CrabError('invalid', `Cannot use this package: it has no ${folder}/SKILL.md`)
  const matter = readFrontMatter(main)
  if (!matter.ok)
    throw new CrabError('invalid', `Cannot use ${folder}/SKILL.md:${matter.line}: ${matter.message}`)
  const [name = '', description = ''] = ['name', 'description'].map((key) => matter.texts.get(key)?.trim())
  const problem = validateSkill(name, description)
  if (problem !== undefined) throw new CrabError('invalid', `Cannot use ${folder}/SKILL.md: ${problem}`)
  return {
    folder: posix.basename(folder),
    name,
    description,
    allowedTools: allowedTools(main),
    files: files.map(({ path, content, isExecutable = false }) => ({
      ...{ path: path.slice(folder.length + 1), content: content!, isExecutable },
    })),
  }
}

/** Returns `allowed-tools` as text, whether the file has a string or a list: the value is only shown here. */
function allowedTools(text: string): string {
  const matter = /^---\s*\n([\s\S]*?)\n---/.exec(text.replaceAll('\r\n', '\n'))?.[1] ?? ''
  const [, first = '', rest = ''] = /^allowed-tools\s*:[ \t]*(.*)\n?((?:[ \t-].*\n?)*)/m.exec(matter) ?? []
  return `${first} ${rest
    .replaceAll(/^\s*-\s*/gm, '')
    .trim()
    .split('\n')
    .join(', ')}`.trim()
}

function toAgent(file: string, all: readonly TarFile[]): PkgAgent {
  const text = all.find(({ path }) => path === file)?.content?.toString()
  if (text === undefined) throw new CrabError('invalid', `Cannot use this package: it has no ${file}`)
  const document = parseToml(file, text)
  if (!document.ok) throw configError(document.problems)
  const { value } = document
  const checked = checkAgent(value.table)
  if (!checked.ok) throw configError(toFileIssues(value, checked.problems))
  const { description, model, mcps, permissions, components = false } = checked.value
  const place = () => file
  return {
    name: posix.basename(file, '.toml').normalize('NFC'),
    description,
    model,
    servers: mcps,
    rules: [...toRules(permissions, place), ...mcps.flatMap((entry) => entryRules(entry, place))],
    components,
    placeholders: mcps.flatMap(findGaps),
    text: value.text,
    table: value.table,
    prompt: all.find(({ path }) => path === toPromptPath(file))?.content,
  }
}

/** Lists the values that the author left for the user to fill in: placeholders and empty values. */
function findGaps(entry: McpEntry): string[] {
  const { name, env = {}, headers = {}, auth } = entry
  const isEmpty = (values: Readonly<Record<string, string>>) =>
    Object.keys(values).filter((key) => values[key] === '')
  const empty = [
    ...isEmpty(env).map((key) => `env.${key}`),
    ...isEmpty(headers).map((key) => `headers.${key}`),
    ...(auth === '' ? ['auth'] : []),
  ]
  const open = findUnfilledValues(entry).map(
    ({ path, placeholder }) => `${formatPath(path)}, which is ${placeholder}`,
  )
  return [...empty, ...open].map((place) => `${name}: ${place}`)
}

function toPromptPath(file: string): string {
  return file.replace(/\.toml$/, '.md')
}

const MAX_BYTES = 32 * 2 ** 20
const MAX_FILES = 2_000
