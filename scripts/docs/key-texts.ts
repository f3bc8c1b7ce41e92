import { COLOR_ROLES, type ColorRole } from '../../src/core/base/chat-settings.ts'

const CLASS_ALLOW = 'Calls that run without asking in such turns.'
const CLASS_ASK = 'Calls that are refused unless their question is parked and you allow them.'
const CLASS_DENY = 'Calls that such turns never make.'

/** The texts of the keys that the `permissions` tables of config.toml and of agent files share. */
const PERMISSION_TEXTS: Readonly<Record<string, string>> = {
  'permissions.allow': 'Calls that run without asking.',
  'permissions.ask': 'Calls that you are asked about, even if another rule allows them.',
  'permissions.deny': 'Calls that are refused, even if another rule allows them.',
  'permissions.read_only_commands':
    'Whether [commands that only read](permissions.md#read-only-commands) run without asking; true by default.',
  'permissions.unattended':
    'The rules of turns that schedules and events start; no other table allows their calls.',
  'permissions.unattended.allow': CLASS_ALLOW,
  'permissions.unattended.ask': CLASS_ASK,
  'permissions.unattended.deny': CLASS_DENY,
  'permissions.remote':
    'The rules of turns of untrusted clients and senders; no other table allows their calls.',
  'permissions.remote.allow': CLASS_ALLOW,
  'permissions.remote.ask': CLASS_ASK,
  'permissions.remote.deny': CLASS_DENY,
}

const COLOR_TEXTS: Readonly<Record<ColorRole, string>> = {
  accent: 'Names, marks and the selection.',
  dim: 'Less important text.',
  success: 'Success.',
  warning: 'Warnings.',
  error: 'Errors.',
  'user-background': 'Behind your messages.',
  'diff-added': 'Added lines.',
  'diff-removed': 'Removed lines.',
  'diff-added-background': 'Behind added lines.',
  'diff-removed-background': 'Behind removed lines.',
  'diff-added-word': 'Behind the words that changed in an added line.',
  'diff-removed-word': 'Behind the words that changed in a removed line.',
  code: 'Code within a sentence.',
  'code-keyword': 'Keywords of code.',
  'code-string': 'Strings of code.',
  'code-number': 'Numbers of code.',
  'code-type': 'Types of code.',
  'code-function': 'Functions of code.',
  'code-comment': 'Comments of code.',
}

/** The meaning of each key of config.toml; the generator fails on a missing or superfluous text. */
export const CONFIG_TEXTS: Readonly<Record<string, string>> = {
  model: 'The model of agents that do not name one.',
  effort:
    'The reasoning effort of agents that do not name one: `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. Default: the provider decides.',
  llm: 'The short form: one OpenAI-compatible server.',
  'llm.base_url': 'Its address, such as `http://localhost:4000/v1`.',
  'llm.api_key': 'Its key, if it needs one.',
  'llm.model': 'The model of agents that do not name one; the same as `model`.',
  providers:
    'Model servers, as `[[providers]]` tables. With at least one of them, keys in the environment are ignored.',
  'providers[].name': 'Its name; `name/model` selects one of its models.',
  'providers[].kind': 'Its API.',
  'providers[].api_key':
    "Its key; by default the value of the provider's usual variable, such as `ANTHROPIC_API_KEY`.",
  'providers[].key_helper':
    'A program with its arguments that prints the key, instead of `api_key`: `["crabtalk", "vault", "key", "NAME"]`, which `crabtalk connect` writes, or any other, such as `["pass", "anthropic"]`. No shell is used. It runs when the key is needed first, and again when it was refused.',
  'providers[].base_url': "Its address; by default the provider's own. Required for `openai-compatible`.",
  'providers[].models':
    'Its models, as names or tables. Without the list, it gets every model name that no other provider lists.',
  'providers[].models[].name': 'The name under which the provider knows it.',
  'providers[].models[].context': 'The size of its context in tokens, if crabtalk does not know it.',
  'providers[].models[].input_usd': 'US dollars per million tokens of input.',
  'providers[].models[].output_usd': 'US dollars per million tokens of output.',
  'providers[].context':
    'The context windows of models, in tokens: `{ "qwen3" = 32768 }`. `connect` and `model use` write what the provider reports.',
  'providers[].region': 'The region of Amazon Bedrock, such as `eu-central-1`.',
  'providers[].profile': 'The profile of `~/.aws` whose credentials are used for Amazon Bedrock.',
  'providers[].timeout_ms': 'The maximum wait for the first byte of an answer.',
  'providers[].max_retries':
    'How often a call is retried. By default 2 times within seconds, and 9 times within minutes in the chat and for schedules and events.',
  skills: 'Where to find skills.',
  'skills.dirs': 'More folders of skills.',
  env: 'Variables for every MCP server that is a program.',
  permissions: 'Rules for every agent; see [permissions](permissions.md).',
  ...PERMISSION_TEXTS,
  daemon: 'The process that holds conversations while it runs; see [the daemon](daemon.md).',
  'daemon.on_demand': 'Whether commands may start it.',
  'daemon.tcp_port':
    'The TCP port to listen on; 0 picks a free one. By default the daemon does not listen on TCP.',
  'daemon.tcp_token':
    'Whether TCP clients must present a token. `false` also needs CRABTALK_ALLOW_TCP_WITHOUT_TOKEN=1 in the environment of the daemon.',
  mcp: 'The defaults of MCP servers; the same keys of an entry take precedence.',
  'mcp.start': 'Whether servers start with their agent or with the first call.',
  'mcp.idle_timeout_ms': 'Ends a server that is unused for this long. By default servers stay.',
  'mcp.startup_timeout_ms':
    'The time limit of a start. By default 10 s, and 60 s for the first start with `npx` or `uvx`.',
  'mcp.timeout_ms': 'The time limit of a call without progress. By default 60 s.',
  tui: 'Settings of the [chat](chat.md#settings).',
  'tui.theme': 'The colors: `auto` follows the background of the terminal.',
  'tui.colors':
    'Your own colors, which replace those of the theme: `#rrggbb`, a name such as `bright-red`, or `default`.',
  ...Object.fromEntries(COLOR_ROLES.map((role) => [`tui.colors.${role}`, COLOR_TEXTS[role]])),
  'tui.status': 'The parts of the status line, from left to right; all by default.',
  'tui.keymap': 'The keys: `vim` has modes.',
  'tui.keys': 'Your own keys by action, such as `redraw = ["alt+x"]`; `/keys` lists the actions.',
  'tui.notify': 'How a question or a finished turn gets your attention in another window.',
  'tui.window_title': 'Whether the chat sets the title of the window.',
  'tui.progress': 'Whether the terminal shows that a turn is running, if it can.',
  'tui.compact_at': 'The share of the context window at which the history is compacted; 0 means never.',
  'tui.titles':
    'The titles of conversations: `auto` cuts them from the first message, `model` has the model write them.',
  'tui.spinner': 'The sign of a running turn; `none` does not move.',
  'tui.fullscreen': 'Whether the chat starts on the alternate screen.',
}

const RULES = 'Rules about tools of this server, by the names that it gives them; `*` matches anything.'

/** The meaning of each key of an agent file. */
export const AGENT_TEXTS: Readonly<Record<string, string>> = {
  id: 'Connects the agent with its conversations. crabtalk writes it; never change it.',
  description: 'What the agent is for, in one line.',
  model: 'Its model; by default the `model` of config.toml.',
  max_iterations: 'The maximum number of model calls in a turn.',
  mode: 'What runs without asking, unless the client says otherwise: see [modes](permissions.md#modes).',
  thinking: 'Whether the model thinks before it answers, if it can.',
  effort: 'How much the model reasons, if it has levels; by default the `effort` of config.toml.',
  skills: 'The names of the skills that it may use; empty means all.',
  tools: 'The names of the tools that it gets; empty means all.',
  tool_choice: 'Whether the model must call tools: `auto`, `none`, `required`, or the name of one.',
  permissions: 'Rules for this agent; see [permissions](permissions.md).',
  ...PERMISSION_TEXTS,
  components:
    'The components whose tools it gets: `true` means all, a list only those; none by default. See [components](mcp-reference.md#components).',
  mcps: 'Its MCP servers, as `[[mcps]]` tables; see [MCP servers](mcp.md).',
  'mcps[].name': 'The first part of the names of its tools.',
  'mcps[].command': 'The program to start.',
  'mcps[].args': 'Its arguments.',
  'mcps[].env': 'Environment variables for it. Values are used literally.',
  'mcps[].env_helper':
    'A program and its arguments, which is run before each start and prints further variables; see [Credentials of programs](mcp-reference.md#credentials-of-programs).',
  'mcps[].cwd': 'Its working directory, an absolute path; by default the home directory of crabtalk.',
  'mcps[].url': 'The address of a remote server (http:// or https://), instead of `command`.',
  'mcps[].headers': 'Headers for a remote server.',
  'mcps[].auth': 'The token for a remote server, sent in its Authorization header.',
  'mcps[].auth_helper':
    'A program and its arguments, which prints a token or headers for a remote server; see [Credentials](mcp-reference.md#credentials-of-remote-servers).',
  'mcps[].include': 'The agent gets only these tools; `*` matches anything.',
  'mcps[].exclude': 'The agent does not get these tools; `*` matches anything.',
  'mcps[].permissions': 'Rules about its tools.',
  'mcps[].permissions.allow': RULES,
  'mcps[].permissions.ask': RULES,
  'mcps[].permissions.deny': RULES,
  'mcps[].transport': 'The transport of a remote server; detected by default.',
  'mcps[].disabled': 'Whether it is never started; false by default.',
  'mcps[].share': 'Whether agents that declare the same server share one process; true by default.',
  'mcps[].required': 'Whether a turn fails if it does not start; false by default.',
  'mcps[].start':
    '`eager` (the default) starts it as soon as its agent is used, `lazy` when one of its tools is needed.',
  'mcps[].idle_timeout_ms': 'How long it runs without a call before it is stopped; never by default.',
  'mcps[].startup_timeout_ms':
    'How long a start may take; 10 s by default, 60 s for `npx`, `uvx` and similar programs.',
  'mcps[].timeout_ms':
    'How long a call may take without reporting progress; 60 s by default. With progress it may take ten minutes in total, or this time if it is longer.',
  'mcps[].output_limit':
    'How many bytes of a result the model sees; 256 KiB by default. The rest goes to a file.',
  'mcps[].taint_scanning': 'Whether arguments are scanned for secrets before they are sent; true by default.',
  'mcps[].taint_policy':
    'What happens to a call with a secret in its arguments: `block` (the default) refuses it, `warn` makes it and prints a warning, `off` does not scan.',
  'mcps[].origin': 'Where the entry comes from. The program that created the entry writes it.',
  'mcps[].origin.canonical': 'The description that the entry was created from.',
}
