import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'smol-toml'

/** Secrets by the place where they are stored. */
export type Planted = Readonly<Record<string, string>>

/** A server that reveals everything it was given: on standard error when it starts, and by its tool `leak`. */
const SERVER = `
const { WORD, ...env } = process.env // values under plain names may come back: docs/mcp-reference.md
const reveal = () => JSON.stringify({ argv: process.argv.slice(2), env })
process.stderr.write(reveal() + '\\n')
const tool = { name: 'leak', description: 'Tells ' + reveal(), inputSchema: { type: 'object' } }
const answer = ({ method, params }) => {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'leaky', version: '1' } }
  if (method === 'tools/list') return { tools: [tool] }
  if (method === 'tools/call') return { content: [{ type: 'text', text: reveal() }], structuredContent: JSON.parse(reveal()) }
  return {}
}
let rest = ''
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n')
  rest = lines.pop()
  for (const message of lines.map((line) => JSON.parse(line)).filter(({ id }) => id !== undefined)) {
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) }) + '\\n')
  }
})
`

/** A helper that returns a token, and writes everything it knows to standard error. */
const HELPER = `
process.stderr.write(JSON.stringify(process.argv.slice(2)) + '\\n')
process.exitCode = 4
`

interface Place {
  home: string
  cwd: string
  /** The URL of a server that answers 401 with everything it was sent. */
  url: string
  modelUrl: string
}

/** Writes a home with a secret in every place that can hold one. */
export async function plantSecrets({ home, cwd, url, modelUrl }: Place): Promise<Planted> {
  const planted: Record<string, string> = {}
  const s = (where: string) => {
    planted[where] ??= `c${Object.keys(planted).length}${randomBytes(9).toString('hex')}Z`
    return planted[where]
  }
  const [server, helper] = [join(cwd, 'leaky.cjs'), join(cwd, 'helper.cjs')]
  await Promise.all([writeFile(server, SERVER), writeFile(helper, HELPER)])
  const node = process.execPath
  const leaky = {
    ...{ name: 'leaky', command: node, startup_timeout_ms: 60_000 },
    args: [
      ...[server, `--token=${s('--token=x')}`, '--api-key', s('--api-key x'), '-p', s('-p x')],
      ...['-u', `me:${s('-u user:x')}`, `PGPASSWORD=${s('NAME=x')}`, `--env=DB_PASS=${s('--env=NAME=x')}`],
      ...[
        '-e',
        `GITHUB_PAT=${s('-e NAME=x')}`,
        `-eA_KEY=${s('-eNAME=x')}`,
        '--connection-string',
        s('--a-b x'),
      ],
      ...[
        '--header',
        `Authorization: Bearer ${s('--header Name: x')}`,
        `--header=X-Api-Key:${s('--header=Name:x')}`,
      ],
      ...[`postgres://me:${s('x://me:password')}@h/db`, `https://h/?access_token=${s('url query in args')}`],
      ...[
        '--config',
        JSON.stringify({ apiKey: s('JSON'), inner: JSON.stringify({ password: s('JSON in JSON') }) }),
      ],
      ...['--script', `A=1 B_TOKEN=${s('script NAME=x')} run --key ${s('script --key x')} x`],
      ...[githubToken(planted), '--clientSecret', s('--camelCase x')],
    ],
    env: {
      ...{ API_TOKEN: s('env TOKEN'), WORD: s('env of a plain name') },
      ...{
        DATABASE_URL: `mysql://me:${s('env address')}@h/db`,
        OPTIONS: JSON.stringify({ secret: s('env JSON') }),
      },
      KEY: `-----BEGIN KEY-----\n${s('env of several lines')}\n-----END KEY-----`,
    },
    origin: { canonical: { TOKEN: s('origin.canonical') }, from: `https://me:${s('origin address')}@h/` },
  }
  const remote = {
    name: 'remote',
    url: `${url.replace('://', `://me:${s('url password')}@`)}/s/${s('url path')}/mcp?api_key=${s('url query')}&k=${s('url query key')}`,
    headers: { 'X-Api-Key': s('header'), Cookie: `sid=${s('cookie')}`, 'X-Team': s('plain header') },
  }
  const fixed = { name: 'fixed', url: `${url}/fixed`, auth: `Bearer ${s('auth')}` }
  const helped = {
    ...{ name: 'helped', url: `${url}/helped` },
    auth_helper: [
      node,
      helper,
      '--password',
      s('auth_helper --password x'),
      `--token=${s('auth_helper --token=x')}`,
    ],
  }
  const script = `API_KEY=${s('sh -c')} run; curl -uann:${s('curl -uNAME:x')} h | redis-cli -a ${s('redis-cli -a x')}`
  const off = {
    ...{ name: 'off', command: 'sh', disabled: true },
    args: ['-c', script, 'mysql', `-p${s('mysql -px')}`, 'sshpass', '-p', s('sshpass -p x')],
    env: { TOKEN: s('disabled env') },
  }
  await mkdir(join(home, 'agents'), { recursive: true, mode: 0o700 })
  const agent = stringify({ permissions: { allow: ['mcp__*'] }, mcps: [leaky, remote, fixed, helped, off] })
  await writeFile(join(home, 'agents/crab.toml'), agent, { mode: 0o600 })
  const config = `[[providers]]
name = "test"
kind = "openai-compatible"
base_url = "${modelUrl}"
api_key = "${s('provider key')}"
models = ["scripted"]

[[providers]]
name = "other"
kind = "openai-compatible"
base_url = "http://me:${s('provider address')}@127.0.0.1:9/v1?key=${s('provider query')}"
models = ["none"]

[env]
SHARED_TOKEN = "${s('config env')}"

[daemon]
tcp_port = 0
`
  await writeFile(join(home, 'config.toml'), config, { mode: 0o600 })
  await writeFile(join(home, 'service.env'), `SOME_KEY='${s('service.env')}'\n`, { mode: 0o600 })
  return planted
}

function githubToken(planted: Record<string, string>): string {
  planted['a token of a known shape'] = `ghp_${randomBytes(18).toString('hex')}`
  return planted['a token of a known shape']
}

/** Reads every file of a home except those that hold its secrets on purpose. */
export async function readOtherFiles(home: string): Promise<[name: string, text: string][]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  const files = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  const written = files.filter((path) => !/(?:agents\/crab\.toml|\/config\.toml|\/service\.env)$/.test(path))
  return await Promise.all(
    written.map(async (path): Promise<[string, string]> => [path, await readFile(path, 'latin1')]),
  )
}

/** Finds the secrets that a text contains: whole, percent-decoded, or as basic authorization. */
export function findSecrets(planted: Planted, text: string): string[] {
  const plain = text.includes('%')
    ? `${text}\n${text.replaceAll(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))}`
    : text
  return Object.entries(planted)
    .filter(([, secret]) => {
      const basic = Buffer.from(`me:${secret}`).toString('base64')
      return plain.includes(secret) || plain.includes(basic)
    })
    .map(([where]) => where)
}
