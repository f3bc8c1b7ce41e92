import type { ChatSettings } from '../../core/base/chat-settings.ts'
import type { TomlDocument } from '../../core/config/toml.ts'
import type { FileIssue } from '../../core/config/validation-issue.ts'
import { findKeyIssues } from '../../core/keys/bindings.ts'

/** Returns what is wrong with the keys of `[tui.keys]`, with the line of each. */
export function locateKeyIssues({ file, lineOf }: TomlDocument, settings: ChatSettings): FileIssue[] {
  return findKeyIssues(settings).map(({ name, message, hint }) => ({
    ...{ file, line: lineOf(['tui', 'keys', name]), column: undefined, key: `tui.keys.${name}` },
    ...{ message, hint },
  }))
}
