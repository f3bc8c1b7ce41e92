import { createHash } from 'node:crypto'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import {
  createFile,
  isMissingFile,
  makePrivateDir,
  replaceFile,
  syncDir,
  toStorageError,
} from '../../core/base/files.ts'
import { readAgentFiles } from '../../core/config/agent-files.ts'
import { newAgentId } from '../../core/config/agent-id.ts'
import { foldName } from '../../core/config/agent-schema.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { editToml } from '../../core/config/toml-edit.ts'
import { scanSkills } from '../../core/skills/scan-skills.ts'
import type { PkgAgent, PkgContents, PkgSkill } from './contents.ts'
import type { FetchedPkg } from './fetch-pkg.ts'
import { type PkgRecord, packageRecordPath, readRecords } from './records.ts'

/** The ports of installing skills and agents. */
export interface PkgPorts {
  paths: HomePaths
  now(): number
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** A temporary folder on the disk of the home. */
  folder: string
}

/**
 * Copies the skills and agents of a package into the home: all of them, or none when one of their names is
 * taken. The record is written before the first file, so that `remove` also finds an interrupted
 * installation. Throws `conflict`.
 */
export async function installPkg(pkg: FetchedPkg, ports: PkgPorts, signal: AbortSignal): Promise<PkgRecord> {
  const { paths, now } = ports
  const { contents, source } = pkg
  await using _ = await ports.lock('pkg', signal)
  await using _agents = await ports.lock(`file:${paths.agents}`, signal)
  await refuseTaken(contents, paths)
  const agents = contents.agents.map(withId)
  const record: PkgRecord = {
    ...{ name: contents.manifest.name, version: contents.manifest.version },
    description: contents.manifest.description,
    source,
    installedAt: new Date(now()).toISOString(),
    skills: contents.skills.map(({ folder }) => folder),
    agents: agents.map(({ name }) => name),
    files: checksums(contents.skills, agents),
  }
  await replaceFile(packageRecordPath(paths, record.name), `${JSON.stringify(record, undefined, 2)}\n`)
  for (const skill of contents.skills) await writeSkill(skill, ports)
  for (const agent of agents) await writeAgent(agent, paths)
  return record
}

/** Returns the SHA-256 of a file as hexadecimal digits. */
export function checksum(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Throws `conflict` when names are taken; the message lists all of them, so that the user decides once. */
export async function refuseTaken(
  { manifest, skills, agents }: PkgContents,
  paths: HomePaths,
): Promise<void> {
  const what = `Cannot add ${manifest.name}`
  const { records } = await readRecords(paths)
  const same = records.find(({ name }) => name === manifest.name)
  if (same) {
    throw new CrabError('conflict', `${what}: version ${same.version} is already installed`, {
      hint: `remove it first: crabup pkg remove ${same.name}`,
    })
  }
  const [folders, known, files] = await Promise.all([
    namesIn(paths.skills),
    scanSkills([{ path: paths.skills, isOwn: true }]),
    readAgentFiles(paths.agents),
  ])
  const prompts = await namesIn(paths.agents)
  const taken = [
    ...skills
      .filter(
        ({ folder, name }) =>
          folders.has(folder.toLowerCase()) || known.skills.some((one) => one.name === name),
      )
      .map(({ name }) => `the skill ${name}`),
    ...agents
      .filter(
        ({ name }) =>
          files.some((one) => foldName(one.name) === foldName(name)) || prompts.has(`${foldName(name)}.md`),
      )
      .map(({ name }) => `the agent ${name}`),
  ]
  if (taken.length === 0) return
  throw new CrabError('conflict', `${what}: you already have ${taken.join(', ')}`, {
    hint: 'rename yours, or do not install this package',
  })
}

async function namesIn(folder: string): Promise<Set<string>> {
  const names = await readdir(folder).catch((reason: unknown) => {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot read ${folder}`, reason)
  })
  return new Set(names.map(foldName))
}

/** Assigns a new id and ignores the one in the file: ids belong to this home. */
function withId(agent: PkgAgent): PkgAgent {
  return { ...agent, text: editToml(agent.text, agent.table, { ...agent.table, id: newAgentId(agent.name) }) }
}

function checksums(skills: readonly PkgSkill[], agents: readonly PkgAgent[]): Record<string, string> {
  const skillSums = skills.flatMap(({ folder, files }) =>
    files.map(({ path, content }) => [`skills/${folder}/${path}`, checksum(content)]),
  )
  const agentSums = agents.flatMap(({ name, text, prompt }) => [
    [`agents/${name}.toml`, checksum(text)],
    ...(prompt ? [[`agents/${name}.md`, checksum(prompt)]] : []),
  ])
  return Object.fromEntries([...skillSums, ...agentSums])
}

/** Writes a skill atomically: completely or not at all. */
async function writeSkill({ folder, files }: PkgSkill, { paths, folder: work }: PkgPorts): Promise<void> {
  const staged = join(work, `skill ${folder}`)
  for (const { path, content, isExecutable } of files)
    await replaceFile(join(staged, path), content, isExecutable ? 0o700 : undefined)
  await makePrivateDir(paths.skills)
  try {
    await mkdir(join(paths.skills, folder), { mode: 0o700 }) // throws when the folder exists by now
    await rename(staged, join(paths.skills, folder))
    await syncDir(paths.skills)
  } catch (reason) {
    throw toStorageError(`Cannot write ${join(paths.skills, folder)}`, reason)
  }
}

/** Writes the prompt first: an agent exists as soon as its file does. */
async function writeAgent({ name, text, prompt }: PkgAgent, paths: HomePaths): Promise<void> {
  const path = join(paths.agents, name)
  await makePrivateDir(dirname(path))
  const isNew =
    (!prompt || (await createFile(`${path}.md`, prompt))) && (await createFile(`${path}.toml`, text))
  if (!isNew)
    throw new CrabError(
      'conflict',
      `Cannot add the agent ${name}: another one of that name was created in the meantime`,
    )
}
