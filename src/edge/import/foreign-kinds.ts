/** The programs whose MCP servers can be imported. */
export const FOREIGN_KINDS = [
  'claude',
  'claude-desktop',
  'cursor',
  'vscode',
  'windsurf',
  'zed',
  'codex',
  'gemini',
  'opencode',
  'librefang',
  'caliban',
] as const

/** A program whose MCP servers can be imported. */
export type ForeignKind = (typeof FOREIGN_KINDS)[number]

/** The names of the programs, for people. */
export const KIND_TITLES: Readonly<Record<ForeignKind, string>> = {
  claude: 'Claude Code',
  'claude-desktop': 'Claude Desktop',
  cursor: 'Cursor',
  vscode: 'VS Code',
  windsurf: 'Windsurf',
  zed: 'Zed',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  librefang: 'librefang',
  caliban: 'caliban',
}
