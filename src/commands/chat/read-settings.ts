import { parseToml } from '../../core/config/toml.ts'
import { readChatSettings } from '../../core/config/tui-schema.ts'
import { type FileIssue, formatLocation } from '../../core/config/validation-issue.ts'
import type { SettingsResult } from '../../tui/ports.ts'
import { locateKeyIssues } from '../config/key-issues.ts'

/** Reads the settings of the chat from the text of config.toml. */
export function parseSettings(file: string, text: string): SettingsResult {
  const document = parseToml(file, text)
  if (!document.ok) return toInvalid(document.problems)
  const outcome = readChatSettings(document.value)
  if (!outcome.ok) return toInvalid(outcome.problems)
  const { value: settings } = outcome
  return { settings, problems: locateKeyIssues(document.value, settings).map(toSentence) }
}

function toInvalid(problems: readonly FileIssue[]): SettingsResult {
  return { settings: undefined, problems: problems.map(toSentence) }
}

function toSentence({ message, hint, ...place }: FileIssue): string {
  return `${formatLocation(place)}: ${message}${hint === undefined ? '' : ` (${hint})`}`
}
