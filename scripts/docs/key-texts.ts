const CLASS_ALLOW = 'Calls that such turns make without a question.'
const CLASS_ASK = 'Calls that are refused unless their question is parked and you permit it.'
const CLASS_DENY = 'Calls that such turns never make.'

/** The texts of the keys that the `permissions` tables of config.toml and of agent files share. */
const PERMISSION_TEXTS: Readonly<Record<string, string>> = {
  'permissions.allow': 'Calls that are made without a question.',
  'permissions.ask': 'Calls that are asked about, though another rule allows them.',
  'permissions.deny': 'Calls that are refused, whatever else allows them.',
  'permissions.read_only_commands':
    'Whether [commands that only read](permissions.md#read-only-commands) run without a question; true unless set.',
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

/** The meaning of each key of config.toml; the generator fails on a missing or superfluous text. */
export const CONFIG_TEXTS: Readonly<Record<string, string>> = {
  model: 'The model of agents that name none.',
  llm: 'The short form: one OpenAI-compatible server.',
  'llm.base_url': 'Its address, such as `http://localhost:4000/v1`.',
  'llm.api_key': 'Its key, where it wants one.',
  'llm.model': 'The model of agents that name none; the same as `model`.',
  providers:
    'Servers of models, as `[[providers]]` tables. With any of them the environment is not looked at for others.',
  'providers[].name': 'What it is called; `name/model` addresses a model of it.',
  'providers[].kind': 'What it speaks.',
  'providers[].api_key':
    "Its key. Without one the provider's usual variable counts, such as `ANTHROPIC_API_KEY`.",
  'providers[].base_url':
    "Its address. Without one the provider's usual address; needed for `openai-compatible`.",
  'providers[].models':
    'Its models, as names or tables. Without the list it takes every name that no other provider has.',
  'providers[].models[].name': 'The name the provider knows it by.',
  'providers[].models[].context': 'How many tokens it takes, where crabtalk does not know.',
  'providers[].models[].input_usd': 'US dollars for a million tokens of input.',
  'providers[].models[].output_usd': 'US dollars for a million tokens of output.',
  'providers[].region': 'The region of Amazon Bedrock, such as `eu-central-1`.',
  'providers[].profile': 'The profile of `~/.aws` whose credentials are used for Amazon Bedrock.',
  'providers[].timeout_ms': 'The longest wait for the first byte of an answer.',
  'providers[].max_retries': 'How often a call is tried again that has not begun to answer.',
  skills: 'Where skills are looked for.',
  'skills.dirs': 'Further folders of skills.',
  env: 'Variables for every MCP server that is a program.',
  permissions: 'Rules for every agent; see [permissions](permissions.md).',
  ...PERMISSION_TEXTS,
  daemon: 'The process that owns conversations while it runs; see [the daemon](daemon.md).',
  'daemon.on_demand': 'Whether a command may start it.',
  'daemon.tcp_port': 'Its port for TCP; 0 picks a free one. Without it there is no TCP.',
  'daemon.tcp_token':
    'Whether TCP clients must show a token. `false` needs CRABTALK_ALLOW_TCP_WITHOUT_TOKEN=1 in the environment of the daemon, too.',
  mcp: 'Has no keys yet.',
  tui: 'Has no keys yet.',
}

const RULES = 'A rule about tools of this server, by the names it gives them; `*` matches anything.'

/** The meaning of each key of an agent file. */
export const AGENT_TEXTS: Readonly<Record<string, string>> = {
  id: 'Whose conversations are its own. Written by crabtalk, and never changed.',
  description: 'What it is for, in a line.',
  model: 'Its model; without one that of config.toml.',
  max_iterations: 'At most so many model calls in a turn.',
  thinking: 'Whether the model thinks before it answers, where it can.',
  skills: 'The only skills it may use, by name; all when empty.',
  tools: 'The only tools it gets, by name; all when empty.',
  tool_choice: 'Whether the model must call tools: `auto`, `none`, `required`, or the name of one.',
  permissions: 'Rules for this agent; see [permissions](permissions.md).',
  ...PERMISSION_TEXTS,
  components:
    'Which components it gets: all with `true`, else those of the list; none without it. See [components](mcp.md#components).',
  mcps: 'Its MCP servers, as `[[mcps]]` tables; see [MCP servers](mcp.md).',
  'mcps[].name': 'The first part of the names of its tools.',
  'mcps[].command': 'The program to start.',
  'mcps[].args': 'Its arguments.',
  'mcps[].env': 'Variables for it. Values are taken as they stand.',
  'mcps[].cwd': 'Where it runs, absolute; without it the home directory of crabtalk.',
  'mcps[].url': 'The address of a remote server, http:// or https://, in place of `command`.',
  'mcps[].headers': 'Headers for a remote server.',
  'mcps[].auth': 'How to log in to a remote server.',
  'mcps[].auth_helper':
    'A program and its arguments that print a token, or headers, for a remote server; see [Remote servers](mcp.md#remote-servers).',
  'mcps[].include': 'Only these tools; `*` matches anything.',
  'mcps[].exclude': 'Not these tools; `*` matches anything.',
  'mcps[].permissions': 'Rules about its tools.',
  'mcps[].permissions.allow': RULES,
  'mcps[].permissions.ask': RULES,
  'mcps[].permissions.deny': RULES,
  'mcps[].transport': 'What a remote server speaks; found out without it.',
  'mcps[].disabled': 'Keeps it declared, and never starts it; no without it.',
  'mcps[].share': 'Whether agents that declare the same server share one process; they do without it.',
  'mcps[].required': 'Whether a turn fails when it does not start; no without it.',
  'mcps[].start':
    '`eager` starts it as soon as its agent is used, `lazy` when one of its tools is needed; `eager` without it.',
  'mcps[].idle_timeout_ms': 'How long it runs without a call; for ever without it.',
  'mcps[].startup_timeout_ms':
    'How long a start may take; 10 s without it, 60 s for `npx`, `uvx` and the like.',
  'mcps[].timeout_ms':
    'How long a call may go on without a word of progress; 60 s without it. With progress it may take ten minutes in all, or this if it is more.',
  'mcps[].output_limit':
    'How much of a result the model sees, bytes; 256 KiB without it. The rest goes to a file.',
  'mcps[].taint_scanning':
    'Whether arguments are looked through for secrets before they are sent; they are without it.',
  'mcps[].taint_policy':
    'What becomes of a call with a secret in it: `block` refuses it, `warn` says so and makes it, `off` does not look; `block` without it.',
  'mcps[].origin': 'Where the entry came from. Written by the program that made it.',
  'mcps[].origin.canonical': 'What it was made of.',
}
