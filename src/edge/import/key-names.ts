/** The keys of other programs that mean the same as a key of an entry. */
export const KEY_ALIASES: ReadonlyMap<string, string> = new Map([
  ['cmd', 'command'],
  ['environment', 'env'], // opencode
  ['envs', 'env'],
  ['uri', 'url'],
  ['endpoint', 'url'],
  ['serverUrl', 'url'], // Windsurf
  ['server_url', 'url'],
  ['httpUrl', 'url'], // Gemini; it takes precedence over url
  ['http_headers', 'headers'],
  ['bearer_token', 'auth'],
  ['workingDirectory', 'cwd'],
  ['includeTools', 'include'],
  ['enabled_tools', 'include'],
  ['enabledTools', 'include'],
  ['tools', 'include'], // Copilot
  ['excludeTools', 'exclude'],
  ['disabled_tools', 'exclude'],
  ['disabledTools', 'exclude'],
  ['env_file', 'envFile'],
  ['transportType', 'type'],
])
/** The keys of which every server has one. */
export const COMMAND_KEYS = new Set(['command', 'url'])
/** The names of transports; a program's transport needs no key. */
export const TRANSPORT_ALIASES: ReadonlyMap<unknown, string> = new Map([
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamable_http', 'http'],
  ['streamableHttp', 'http'],
  ['streamableHTTP', 'http'],
  ['sse', 'sse'],
])
/** The types of servers that are part of another program. */
export const INTERNAL_TYPES = new Set<unknown>(['sdk', 'inMemory', 'builtin', 'platform', 'frontend'])
/** The types of programs. */
export const PROGRAM_TYPES = new Set<unknown>(['stdio', 'local', 'command', 'STDIO'])
/** The keys of an entry. */
export const ENTRY_KEYS = [
  ...['command', 'args', 'env', 'cwd', 'env_helper'],
  ...['url', 'headers', 'auth', 'auth_helper', 'transport'],
  ...['include', 'exclude', 'permissions', 'disabled', 'share', 'required', 'start'],
  ...[
    'idle_timeout_ms',
    'startup_timeout_ms',
    'timeout_ms',
    'output_limit',
    'taint_scanning',
    'taint_policy',
    'origin',
  ],
]
/** The keys that a misspelt key is compared with: they change what runs, or what it may do. */
export const COMMON_KEYS = [
  'command',
  'args',
  'env',
  'url',
  'headers',
  'include',
  'exclude',
  'permissions',
  'disabled',
  'required',
]
/** The keys that the conversion of an entry reads itself. */
export const READ_KEYS = new Set([
  ...['command', 'args', 'env', 'url', 'headers', 'auth', 'include', 'exclude', 'disabled', 'transport'],
  ...[
    'type',
    'enabled',
    'isActive',
    'envFile',
    'headersHelper',
    'env_vars',
    'env_http_headers',
    'bearer_token_env_var',
  ],
  ...['timeout', 'startup_timeout_sec', 'tool_timeout_sec', 'timeout_secs', 'initTimeout', 'name', 'path'],
])
/** Keys for readers, not for programs. */
export const SILENT_KEYS = new Set([
  'description',
  'title',
  'displayName',
  'icon',
  'iconUrl',
  'note',
  'comment',
  '//',
  '_comment',
  '$schema',
  'version',
  'homepage',
  'author',
  'tags',
  'source',
  'gallery',
  'id',
])
/** Keys that are never taken for misspelt ones. */
export const NEVER_MISSPELT = new Set([...SILENT_KEYS, 'settings', 'dev', 'stderr'])
/** Keys with which other programs skip their questions. */
export const PERMISSION_KEYS = new Set([
  'autoApprove',
  'alwaysAllow',
  'always_allow',
  'trust',
  'auto_approve',
  'default_tools_approval_mode',
  'toolPermissions',
])
/** Keys about a login of the other program. */
export const LOGIN_KEYS = new Set([
  'oauth',
  'auth',
  'oauth_config',
  'authProviderType',
  'scopes',
  'oauth_resource',
])
/** A smaller number is a time in seconds: a limit of less than a second in milliseconds is not plausible. */
export const MIN_TIMEOUT_MS = 1000
