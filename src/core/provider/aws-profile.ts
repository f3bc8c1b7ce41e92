import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Env } from './env.ts'

/** The settings of one profile. */
export type AwsProfile = Readonly<Record<string, string>>

/**
 * Reads a profile from AWS's two files; the credentials file takes precedence over the config file. Returns
 * undefined when neither has the profile.
 *
 * The files are in ~/.aws, or where AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE point. Ignores unreadable
 * files and nested settings.
 */
export function readProfile(name: string, env: Env): AwsProfile | undefined {
  const folder = join(env['HOME'] || env['USERPROFILE'] || '/nonexistent', '.aws')
  const files = [
    parse(env['AWS_CONFIG_FILE'] || join(folder, 'config')).get(
      name === 'default' ? name : `profile ${name}`,
    ),
    parse(env['AWS_SHARED_CREDENTIALS_FILE'] || join(folder, 'credentials')).get(name),
  ]
  const found = files.filter((profile) => profile !== undefined)
  return found.length === 0 ? undefined : Object.assign({}, ...found)
}

function parse(path: string): Map<string, Record<string, string>> {
  const sections = new Map<string, Record<string, string>>()
  let current: Record<string, string> = {}
  for (const line of readOptional(path).split(/\r?\n/)) {
    const section = /^\[\s*(.+?)\s*\]/.exec(line)?.[1]?.replace(/\s+/g, ' ')
    if (section !== undefined) {
      current = sections.get(section) ?? {}
      sections.set(section, current)
      continue
    }
    const [, key, value] = /^([^\s#;=]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key !== undefined) current[key] = (value ?? '').replace(/\s[#;].*$/, '').trimEnd()
  }
  return sections
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // usually the file does not exist; a missing setting is reported where it is needed
  }
}
