/** Returns a sentence without a full stop about a package that has a successor; undefined when it has none. */
export function describeSuccessor(words: readonly string[]): string | undefined {
  for (const word of words) {
    const name = /^(@?[^@=:]+)(?:@|==|:|$)/.exec(word)?.[1] ?? ''
    const successor = SUPERSEDED.get(name)
    if (successor !== undefined) return `${name} is no longer developed: its successor is ${successor}`
    const renamed = RENAMED.get(name)
    if (renamed !== undefined) return `${name} is called ${renamed} now`
  }
  return undefined
}

const OFFICIAL = '@modelcontextprotocol/server-'
/** Packages without new versions, and what replaced them. */
const SUPERSEDED: ReadonlyMap<string, string> = new Map([
  [`${OFFICIAL}github`, 'https://api.githubcopilot.com/mcp/ or the image ghcr.io/github/github-mcp-server'],
  [`${OFFICIAL}postgres`, '@bytebase/dbhub'],
  [`${OFFICIAL}puppeteer`, '@playwright/mcp or chrome-devtools-mcp'],
  [`${OFFICIAL}slack`, 'https://mcp.slack.com/mcp'],
  [`${OFFICIAL}brave-search`, '@brave/brave-search-mcp-server'],
  [`${OFFICIAL}google-maps`, 'https://mapstools.googleapis.com/mcp'],
  [`${OFFICIAL}gitlab`, 'https://gitlab.com/api/v4/mcp'],
  [`${OFFICIAL}gdrive`, 'workspace-mcp'],
  [`${OFFICIAL}redis`, 'redis-mcp-server'],
  ['mcp-server-sqlite', '@bytebase/dbhub'],
  ['mcp-server-sentry', 'https://mcp.sentry.dev/mcp'],
  ['@dynatrace-oss/dynatrace-mcp-server', 'the server that Dynatrace hosts'],
  ['awslabs.aws-api-mcp-server', 'the AWS MCP server (mcp-proxy-for-aws)'],
])
/** Packages that go on under another name. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['@doist/todoist-ai', '@doist/todoist-mcp'],
  ['duckduckgo-mcp', 'web-forager'],
  ['blender-mcp', 'mcp-for-blender'],
  ['linkedin-scraper-mcp', 'mcp-server-linkedin'],
  ['genai-toolbox', 'mcp-toolbox'],
])
