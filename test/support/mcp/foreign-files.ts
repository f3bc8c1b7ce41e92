import type { ForeignKind } from '../../../src/edge/import/foreign-kinds.ts'

/** The configuration of a program, with secrets, as its users write it. */
export interface ForeignSample {
  /** The texts of its files by path; `~/` stands for the home directory of the user, `./` for the project. */
  files: Readonly<Record<string, string>>
  /** The values that must not leave the vault. */
  secrets: readonly string[]
}

/** Returns a secret that looks like those of GitHub. */
function plantToken(mark: string): string {
  return `ghp_${mark}${'0123456789abcdefghijklmnopqrstuvwxyz'.slice(mark.length)}`
}

/** Returns the configurations of all programs. `project` is the folder that they have open. */
export function foreignSamples(project: string): Readonly<Record<ForeignKind, ForeignSample>> {
  return {
    claude: {
      files: {
        './.mcp.json': `{"mcpServers": {
  "notes": {"command": "./bin/notes", "args": ["--level", "\${LOG_LEVEL:-info}"], "env": {"NOTES_TOKEN": "\${NOTES_TOKEN}"}}
}}`,
        '~/.claude.json': JSON.stringify({
          numStartups: 7,
          mcpServers: {
            github: {
              type: 'stdio',
              command: 'npx',
              args: ['-y', '@modelcontextprotocol/server-github'],
              env: { GITHUB_PERSONAL_ACCESS_TOKEN: plantToken('claude') },
            },
          },
          projects: {
            [project]: {
              mcpServers: {
                'Team Docs': {
                  type: 'http',
                  url: 'https://docs.example.com/mcp',
                  headers: { Authorization: `Bearer ${plantToken('docs')}`, 'X-Team': 'core' },
                },
              },
            },
            '/elsewhere': { mcpServers: { other: { command: 'other' } } },
          },
        }),
      },
      secrets: [plantToken('claude'), plantToken('docs')],
    },
    'claude-desktop': {
      files: {
        '~/.config/Claude/claude_desktop_config.json': JSON.stringify({
          mcpServers: {
            filesystem: {
              command: 'npx',
              args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/notes'],
            },
            'brave-search': {
              command: 'docker',
              args: ['run', '-i', '--rm', '-e', 'BRAVE_API_KEY=BSA-desktop-4711-secret', 'mcp/brave-search'],
            },
          },
        }),
      },
      secrets: ['BSA-desktop-4711-secret'],
    },
    cursor: {
      files: {
        './.cursor/mcp.json': JSON.stringify({
          mcpServers: {
            search: { url: 'https://search.example.com/mcp', headers: { 'X-API-Key': 'cursor-4711-key' } },
            local: { command: 'node', args: [`\${workspaceFolder}/server.js`], envFile: '.env.mcp' },
          },
        }),
        './.env.mcp': 'DB_PASSWORD=cursor-db-4711\nDB_HOST=localhost\n',
      },
      secrets: ['cursor-4711-key', 'cursor-db-4711'],
    },
    vscode: {
      files: {
        './.vscode/mcp.json': `{
  // shared by the team
  "inputs": [{"type": "promptString", "id": "jira-token", "description": "Jira token", "password": true,}],
  "servers": {
    "jira": {"type": "stdio", "command": "uvx", "args": ["mcp-atlassian",], "env": {"JIRA_TOKEN": "\${input:jira-token}", "JIRA_URL": "https://jira.example.com"}},
    "azure": {"type": "http", "url": "https://azure.example.com/mcp", "headers": {"Authorization": "Bearer vscode-4711-bearer"}, "gallery": true,},
  },
}`,
      },
      secrets: ['vscode-4711-bearer'],
    },
    windsurf: {
      files: {
        '~/.codeium/windsurf/mcp_config.json': JSON.stringify({
          mcpServers: {
            issues: {
              serverUrl: 'https://issues.example.com/sse',
              headers: { Authorization: 'Token windsurf-4711-token' },
              disabledTools: ['delete_issue'],
              alwaysAllow: ['list_issues'],
            },
          },
        }),
      },
      secrets: ['windsurf-4711-token'],
    },
    zed: {
      files: {
        '~/.config/zed/settings.json': `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "postgres": {"source": "custom", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://me:zed-4711-pass@db.example.com/shop"]},
    "mcp-server-linear": {"source": "extension", "enabled": true, "settings": {"api_key": "zed-4711-linear"}},
  },
}`,
      },
      secrets: ['zed-4711-pass', 'zed-4711-linear'],
    },
    codex: {
      files: {
        '~/.codex/config.toml': `model = "m"

[mcp_servers.tracker]
command = "tracker-mcp"
args = ["--stdio"]
env = { TRACKER_SECRET = "codex-4711-secret" }
env_vars = ["TRACKER_TEAM"]
enabled_tools = ["list", "get"]
startup_timeout_sec = 20
default_tools_approval_mode = "never"

[mcp_servers.cloud]
url = "https://cloud.example.com/mcp"
bearer_token_env_var = "CLOUD_TOKEN"
env_http_headers = { X-Org = "CLOUD_ORG" }
`,
      },
      secrets: ['codex-4711-secret'],
    },
    gemini: {
      files: {
        '~/.gemini/settings.json': JSON.stringify({
          mcp: { allowed: ['maps'] },
          mcpServers: {
            maps: {
              httpUrl: 'https://maps.example.com/mcp',
              headers: { 'X-Goog-Api-Key': 'AIza-gemini-4711' },
              timeout: 30_000,
              trust: true,
            },
            vault: { command: 'vault-mcp', args: ['--token', 'gemini-4711-argument'] },
          },
        }),
      },
      secrets: ['AIza-gemini-4711', 'gemini-4711-argument'],
    },
    opencode: {
      files: {
        '~/.config/opencode/opencode.jsonc': `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "sentry": {"type": "remote", "url": "https://mcp.sentry.dev/mcp", "oauth": {"scope": "read"}},
    /* local */
    "weather": {"type": "local", "command": ["uvx", "weather-mcp"], "environment": {"WEATHER_KEY": "opencode-4711-key", "CITY": "{env:CITY}"}, "enabled": false},
  },
}`,
      },
      secrets: ['opencode-4711-key'],
    },
    librefang: {
      files: {
        '~/.librefang/config.toml': `[[mcp_servers]]
name = "browser"
timeout_secs = 30
env = ["BROWSER_TOKEN"]
[mcp_servers.transport]
type = "stdio"
command = "npx"
args = ["-y", "@playwright/mcp"]

[[mcp_servers]]
name = "news"
headers = { Authorization = "Bearer librefang-4711-bearer" }
[mcp_servers.transport]
type = "sse"
url = "https://news.example.com/sse"
`,
      },
      secrets: ['librefang-4711-bearer'],
    },
    caliban: {
      files: {
        './.caliban/mcp.toml': `[server.files]
command = "files-mcp"
args = ["."]
env = { FILES_PASSWORD = "caliban-4711-pass", LEVEL = "\${LEVEL:-debug}" }
required = true

[server.old]
command = "old-mcp"
disabled = true
`,
      },
      secrets: ['caliban-4711-pass'],
    },
  }
}
