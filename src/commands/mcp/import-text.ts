import { escapeLine } from '../../core/base/visible.ts'
import { redactEntry } from '../../core/config/secrets.ts'
import { describeServer } from '../../edge/entries/describe-server.ts'
import type { ForeignFile } from '../../edge/import/foreign-file.ts'
import { describeFile, type ImportPlan, type ServerToImport } from '../../edge/import/import-plan.ts'

/** Formats what an import will do: each file with its servers, what is left out and why. Contains no secret. */
export function formatImportPlan(agent: string, plan: ImportPlan, files: readonly ForeignFile[]): string {
  const blocks = files.map((file) => {
    const isHere = ({ path }: { path: string }) => path === file.path
    return [
      describeFile(file),
      ...plan.servers.filter(isHere).flatMap(formatServer),
      ...plan.skipped.filter(isHere).map(({ name, why }) => `  - ${name}: left out: ${why}`),
      ...plan.notices.filter(isHere).map(({ text }) => `  ! ${text}`),
    ]
  })
  const others = plan.notices
    .filter(({ path }) => files.every((file) => file.path !== path))
    .map(({ path, text }) => [`${path}`, `  ! ${text}`])
  const rest = plan.servers.length === 0 ? [[`nothing to import into ${agent}`]] : []
  return [...blocks, ...others, ...rest]
    .map((lines) => lines.map((line) => `${escapeLine(line)}\n`).join(''))
    .join('')
}

function formatServer({ entry, secrets, found, missing, notices }: ServerToImport): string[] {
  const moved = Object.keys(secrets)
  // the secrets of env and headers are in the vault, the other values are shown
  const { env, headers } = entry
  const { name, origin: _, ...rest } = redactEntry(entry)
  const table = { ...rest, ...(env && { env }), ...(headers && { headers }) }
  const [title, ...lines] = describeServer({ name, table, problem: '' })
  return [
    `  + ${title}`,
    ...lines.map((line) => `    ${line}`),
    ...found.map(({ name, source }) => `      gets ${name} from ${source}`),
    ...(moved.length > 0 ? [`      into the vault: ${moved.join(', ')}`] : []),
    ...missing.map((name) => `      missing: ${name}; crabtalk vault set ${name}`),
    ...notices.map((notice) => `      ${notice}`),
  ]
}
