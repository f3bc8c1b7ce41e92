import { REDACTED, redactWords } from '../../core/base/secrets/redact.ts'
import { type IdentifiedFile, readAgentFiles, toAgent } from '../../core/config/agent-files.ts'
import type { Config } from '../../core/config/config.ts'
import { readConfig } from '../../core/config/load-config.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { redactEntry } from '../../core/config/secrets.ts'

/** The files of a home that only its user may read; they may not exist. */
interface SecretFiles {
  certain: readonly string[]
  /** The files that may hold secrets, because they cannot be parsed. */
  possible: readonly string[]
}

/** Finds the files that hold secrets, as far as that can be determined. */
export async function findSecretFiles(paths: HomePaths): Promise<SecretFiles> {
  const agents = await readAgentFiles(paths.agents).catch(() => [])
  const judged = await Promise.all([judgeConfig(paths), ...agents.map(judgeAgent)])
  const filesThat = (verdict: Verdict) =>
    judged.filter((one) => one.verdict === verdict).map((one) => one.path)
  return {
    certain: [...filesThat('has secrets'), paths.vault, paths.dotEnv],
    possible: filesThat('unknown'),
  }
}

type Verdict = 'has secrets' | 'has none' | 'unknown'

interface JudgedFile {
  path: string
  verdict: Verdict
}

async function judgeConfig(paths: HomePaths): Promise<JudgedFile> {
  const config = await readConfig(paths).catch(() => undefined) // the check of the configuration reports it
  return { path: paths.config, verdict: config?.ok ? toVerdict(isSecret(config.value)) : 'unknown' }
}

async function judgeAgent(file: IdentifiedFile): Promise<JudgedFile> {
  const agent = await toAgent(file)
  return { path: file.path, verdict: agent.ok ? toVerdict(agent.value.mcps.some(isSecretEntry)) : 'unknown' }
}

function toVerdict(hasSecrets: boolean): Verdict {
  return hasSecrets ? 'has secrets' : 'has none'
}

function isSecret({ providers, env }: Config): boolean {
  return (
    Object.keys(env).length > 0 ||
    providers.some(({ apiKey, baseUrl }) => apiKey !== undefined || hasPassword(baseUrl))
  )
}

function isSecretEntry(entry: McpEntry): boolean {
  return JSON.stringify(redactEntry(entry)).includes(REDACTED)
}

function hasPassword(address = ''): boolean {
  return redactWords([address])[0] !== address
}
