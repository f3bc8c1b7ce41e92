import { escapeLine } from '../../core/base/visible.ts'
import type { ForeignFile } from '../../edge/import/foreign-file.ts'
import { describeFile, type ImportPlan, type ServerToImport } from '../../edge/import/import-plan.ts'
import { describeTarget } from '../../mcp/entry-facts.ts'

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

function formatServer({ entry, secrets, missing, notices }: ServerToImport): string[] {
  const moved = Object.keys(secrets)
  return [
    `  + ${entry.name}: ${describeTarget(entry)}`,
    ...(moved.length > 0 ? [`      into the vault: ${moved.join(', ')}`] : []),
    ...missing.map((name) => `      missing: ${name}; crabtalk vault set ${name}`),
    ...notices.map((notice) => `      ${notice}`),
  ]
}
