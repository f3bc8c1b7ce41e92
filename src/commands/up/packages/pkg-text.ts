import { toVisible } from '../../../core/base/visible.ts'
import type { McpEntry } from '../../../core/config/mcp-entry.ts'
import type { PkgAgent, PkgSkill } from '../../../up/pkg/contents.ts'
import type { FetchedPkg } from '../../../up/pkg/fetch-pkg.ts'
import { bytesText } from './facts-text.ts'

/**
 * Renders everything that a package would install, for the user to judge: what it may do, and what it would
 * start.
 */
export function pkgText({ contents, source, facts }: FetchedPkg): string {
  const { manifest, skills, agents } = contents
  const commit = source.commit === undefined ? '' : `, commit ${source.commit.slice(0, 12)}`
  const lines = [
    `${manifest.name} ${manifest.version}${manifest.description && `: ${manifest.description}`}`,
    row('from', `${source.from}${commit}`),
    ...(facts?.publisher ? [row('by', facts.publisher)] : []),
    ...(facts?.publishedAt ? [row('published', facts.publishedAt.slice(0, 10))] : []),
    ...skills.flatMap(skillLines),
    ...agents.flatMap(agentLines),
  ]
  return lines.map((line) => `${toVisible(line.replaceAll(/\s*\n\s*/g, ' '))}\n`).join('')
}

function skillLines({ folder, name, description, allowedTools, files }: PkgSkill): string[] {
  return [
    `  skill ${name}: ${description}`,
    ...(allowedTools === '' ? [] : [row('  tools', allowedTools)]),
    ...files.map(({ path, content, isExecutable }) => {
      const size = bytesText(content.length)
      return row('  file', `skills/${folder}/${path}, ${size}${isExecutable ? ', executable' : ''}`)
    }),
  ]
}

function agentLines(agent: PkgAgent): string[] {
  const { name, description, model, servers, rules, components, placeholders, text, prompt } = agent
  const wants = components === true ? 'all' : components === false ? '' : components.join(', ')
  return [
    `  agent ${name}${description && `: ${description}`}`,
    ...(model === undefined ? [] : [row('  model', model)]),
    ...rules.map(({ effect, pattern, for: only }) => {
      return row(`  ${effect}s`, only ? `${pattern}, in ${only} turns` : pattern)
    }),
    ...servers.map((server) =>
      row(server.command === undefined ? '  reaches' : '  runs', serverText(server)),
    ),
    ...(wants === '' ? [] : [row('  components', wants)]),
    ...placeholders.map((place) => row('  fill in', place)),
    row('  file', `agents/${name}.toml, ${bytesText(Buffer.byteLength(text))}`),
    ...(prompt ? [row('  file', `agents/${name}.md, ${bytesText(prompt.length)}`)] : []),
  ]
}

/** Renders a server. No part of its command is left out, because it would be run. */
function serverText({ name, command, args = [], url, env = {}, ...entry }: McpEntry): string {
  const helper = entry.auth_helper ?? entry.env_helper
  const variables = Object.entries(env).map(([key, value]) => `${key}=${quoteArgument(value)}`)
  const line = command === undefined ? [url ?? ''] : [...variables, ...[command, ...args].map(quoteArgument)]
  const auth = helper ? `, after ${helper.map(quoteArgument).join(' ')}` : ''
  return `${line.join(' ')} (MCP server ${name}${auth})`
}

function quoteArgument(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(WIDTH)}${text}`
}

const WIDTH = 13
