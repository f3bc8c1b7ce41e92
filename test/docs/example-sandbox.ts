import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { scriptedServer } from '../support/mcp/http/scripted-server.ts'
import { type ModelServer, startModelServer } from '../support/model-server.ts'
import { writeRelease } from '../support/release.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { shortConfig, writeConfig } from '../support/talk.ts'
import { answerRequest } from './answers.ts'

/** The environment of a user who tries the examples: a model, a project under git, notes, a PATH. */
export interface ExampleSandbox extends Sandbox {
  server: ModelServer
  /** The home directory of the user. */
  user: string
}

/** Creates it. `npx` and other programs that would need the network start what the project has installed. */
export async function makeExampleSandbox(): Promise<ExampleSandbox> {
  const box = await makeSandbox()
  const server = await startModelServer(answerRequest, { models: ['scripted'] })
  const remote = await scriptedServer()
  const user = box.env['HOME']!
  const home = join(user, '.crabtalk') // the default location
  const [bin, spare] = ['tools', 'spare'].map((name) => join(dirname(box.cwd), name)) as [string, string]
  await writeConfig(home, shortConfig(server.url))
  const tools = Object.entries(TOOLS).map(([name, script]) => writeProgram(join(bin, name), script))
  const jq = writeProgram(join(spare, 'jq'), JQ)
  const files = Object.entries(FILES).map(([name, text]) => writeText(join(box.cwd, name), text))
  const notes = writeText(join(user, 'notes/today.md'), 'Water the plants.\n')
  const claude = writeText(join(user, '.claude.json'), FILES['mcp.json']!)
  await Promise.all([...tools, ...files, jq, notes, claude, writeRelease(join(user, 'Downloads'))])
  const env = { ...box.env, PATH: `${bin}:${box.env['PATH']}:${spare}`, ...VARIABLES, DOCS_URL: remote.url }
  const withEnv = <T extends { env?: object }>(options?: T) => ({
    ...options,
    env: { ...env, CRABTALK_HOME: undefined, ...options?.env },
  })
  const onTerminal = <T extends { env?: object }>(options?: T) => ({
    ...options,
    env: { ...env, CRABTALK_HOME: home, ...options?.env }, // variables of a terminal's environment cannot be removed
  })
  const sandbox: ExampleSandbox = {
    ...box,
    home,
    env,
    server,
    user,
    run: (args, options) => box.run(args, withEnv(options)),
    shell: (script, options) => box.shell(script, withEnv(options)),
    start: (args, options) => box.start(args, withEnv(options)),
    terminal: (args, options) => box.terminal(args, onTerminal(options)),
    terminalShell: (script, options) => box.terminalShell(script, onTerminal(options)),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await remote[Symbol.asyncDispose]()
      await box[Symbol.asyncDispose]()
    },
  }
  await sandbox.shell('git init -q . && git add . && git commit -qm "First" && echo "// a change" >>src/a.ts')
  return sandbox
}

async function writeProgram(path: string, script: string): Promise<void> {
  await writeText(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
}

async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

const ROOT = resolve(import.meta.dirname, '../..')
const MODULES = join(ROOT, 'node_modules')
const EVERYTHING = `${MODULES}/@modelcontextprotocol/server-everything/dist/index.js`

/** Installed programs that would download something or open a window. */
const TOOLS: Record<string, string> = {
  npx: `shift; package=\${1%@[0-9]*}; shift; exec '${process.execPath}' '${MODULES}'"/$package/dist/index.js" "$@"`,
  node: `exec '${process.execPath}' "$@"`,
  npm: `case "$*" in
  'install --global crabtalk') exit 0 ;;
  'install --global '*) exec '${process.execPath}' '${ROOT}/test/docs/fake-npm.mjs' "$@" ;;
esac
case "$1" in
  ci | cit | install) exit 0 ;;
  start) while [ "$1" != -- ]; do shift; done; shift; exec crabtalk "$@" ;;
  view | pack | config) exec '${process.execPath}' '${ROOT}/test/docs/fake-npm.mjs' "$@" ;;
  run) exec '${process.execPath}' -e 'process.exitCode = process.argv[1] in require("${ROOT}/package.json").scripts ? 0 : 1' "$2" ;;
esac
exit 1`,
  uvx: `exec '${process.execPath}' '${EVERYTHING}'`,
  'github-mcp-server': `exec '${process.execPath}' '${EVERYTHING}' "$@"`,
}

/** Replaces jq where it is not installed: paths such as `.[].name`, of one value or of one per line. */
const JQ = `exec '${process.execPath}' -e '
const text = require("node:fs").readFileSync(0, "utf8")
const lines = /^[{[]$/m.test(text) ? [text] : text.split("\\n").filter((line) => line.startsWith("{") || line.startsWith("["))
const steps = process.argv.at(-1).match(/\\[\\]|\\w+/g)
const found = steps.reduce((all, step) => all.flatMap((one) => step === "[]" ? one : [one[step]]), lines.map((line) => JSON.parse(line)))
for (const one of found) console.log(one)
' -- "$@"`

const FILES: Record<string, string> = {
  'mcp.json': '{ "mcpServers": { "github": { "command": "github-mcp-server", "args": ["stdio"] } } }\n',
  'package.json': '{ "name": "sample", "scripts": { "test": "true" } }\n',
  'report.txt': 'Sales went up in spring, and down in autumn.\n',
  'server.js': `import(${JSON.stringify(EVERYTHING)})\n`,
  'src/a.ts': 'export const a = 1\n',
  'my-component/package.json': '{ "name": "my-component", "version": "0.1.0", "bin": "main.js" }\n',
  'my-component/main.js': '',
  'review-kit/crabtalk.toml':
    'name = "review-kit"\nversion = "1.0.0"\nskills = ["review"]\nagents = ["kit-reviewer.toml"]\n',
  'review-kit/review/SKILL.md': '---\nname: review\ndescription: Reviews a diff\n---\n',
  'review-kit/kit-reviewer.toml': 'description = "Looks at changes"\n',
}

const VARIABLES: Record<string, string> = {
  CRABTALK_SERVICE_MANAGER: 'supervisor', // never the service manager of this machine
  DOCS_TOKEN: 'docs_none',
  DB_PASS: 'none',
  EDITOR: 'cat',
  GITHUB_TOKEN: 'ghp_none',
  TRACKER_TOKEN: 'none',
  SEARCH_KEY: 'none',
  SENTRY_TOKEN: 'none',
  SLACK_TEAM: 'none',
  SLACK_TOKEN: 'none',
  USER: 'me',
  GIT_AUTHOR_NAME: 'Me',
  GIT_AUTHOR_EMAIL: 'me@example.org',
  GIT_COMMITTER_NAME: 'Me',
  GIT_COMMITTER_EMAIL: 'me@example.org',
  GIT_CONFIG_GLOBAL: '/dev/null',
}
