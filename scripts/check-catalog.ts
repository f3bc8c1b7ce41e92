import { execFile } from 'node:child_process'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readCatalog } from '../src/edge/catalog/catalog.ts'
import type { Template } from '../src/edge/catalog/template.ts'

// A standalone program: checks that the package of each template exists in the version it names, and installs every
// server that can start without credentials into an agent of a temporary home. `npm run catalog -- ID…` checks some.
// Needs the registries and npm; starts Python servers only where there is uv. Remote servers whose host cannot be found
// are named, not counted. It is not part of the gate: registries change without us.
const ROOT = join(import.meta.dirname, '..')
const run = promisify(execFile)
const START_MS = 240_000
const LOOKUP_MS = 30_000
/** A cluster that does not exist: the tools are listed without it. */
const KUBECONFIG = `{ apiVersion: v1, kind: Config, current-context: here,
  clusters: [{ name: here, cluster: { server: "http://127.0.0.1:9" } }],
  contexts: [{ name: here, context: { cluster: here, user: me } }], users: [{ name: me, user: {} }] }
`

const { templates } = await readCatalog('')
const ids = process.argv.slice(2)
const chosen = templates.filter(({ id }) => ids.length === 0 || ids.includes(id))
await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-catalog-'))
const hasUv = await run('uv', ['--version']).then(
  () => true,
  () => false, // not installed
)
let failures = 0
for (const template of chosen) {
  const [lookup, start] = [await checkPackage(template), await startServer(template)]
  if (lookup.startsWith('failed') || start.startsWith('failed')) failures++
  console.log(`${template.id.padEnd(22)} ${lookup.padEnd(60)} ${start}`)
}
console.log(`${chosen.length} templates, ${failures} failures`)
process.exitCode = failures === 0 ? 0 : 1

/** Asks the registry for the exact version. */
async function checkPackage({ server: { command, args = [] } }: Template): Promise<string> {
  const words = args as string[]
  try {
    if (command === 'npx') {
      const [, name = ''] = words
      const { stdout } = await run('npm', ['view', name, 'version'], { timeout: LOOKUP_MS })
      return stdout.trim() === '' ? `failed: no ${name}` : name
    }
    if (command === 'uvx') {
      const [, name = '', version = ''] =
        words.map((word) => /^([\w.-]+)==([\w.]+)$/.exec(word)).find(Boolean) ?? []
      const answer = await fetch(`https://pypi.org/pypi/${name}/json`, {
        signal: AbortSignal.timeout(LOOKUP_MS),
      })
      const { releases = {} } = (await answer.json()) as { releases?: Record<string, unknown> }
      return version in releases ? `${name}==${version}` : `failed: no ${name}==${version}`
    }
    return '-'
  } catch (reason) {
    return `failed: ${firstLine(reason)}`
  }
}

/** Installs the server in a home of its own, which starts it and lists its tools. */
async function startServer(template: Template): Promise<string> {
  const { id, server, oauth, credentials = [], parameters = [] } = template
  if (oauth) return 'not started: needs a login'
  if (credentials.some(({ required }) => required !== false)) return 'not started: needs a key'
  if (parameters.some((one) => one.default === undefined)) return 'not started: needs values'
  if (server['command'] === 'uvx' && !hasUv) return 'not started: no uv'
  if (server['command'] === 'docker') return 'not started: an image'
  const home = join(folder.path, id)
  await mkdir(join(home, '.kube'), { recursive: true })
  await writeFile(join(home, '.kube', 'config'), KUBECONFIG)
  await run('git', ['init', '--quiet', home])
  const env = {
    ...process.env,
    HOME: home,
    CRABTALK_HOME: join(home, 'crabtalk'),
    CRABTALK_NO_DAEMON: '1',
    npm_config_cache: join(folder.path, 'npm'),
    UV_CACHE_DIR: join(folder.path, 'uv'),
  }
  const words = [
    'bin/launch.cjs',
    '--use-env-proxy',
    '--',
    join(ROOT, 'bin/crabtalk.ts'),
    'mcp',
    'install',
    id,
    '--json',
  ]
  const started = performance.now()
  try {
    const { stdout } = await run(process.execPath, [join(ROOT, words[0]!), ...words.slice(1)], {
      cwd: home,
      env,
      timeout: START_MS,
    })
    return `${JSON.parse(stdout).tools} tools, ${Math.round(performance.now() - started)} ms`
  } catch (reason) {
    const line = firstLine(reason)
    return 'url' in server && line.endsWith('host not found') ? 'not started: no network' : `failed: ${line}`
  }
}

function firstLine(reason: unknown): string {
  const { stderr = '', message } = reason as { stderr?: string; message: string }
  const [line = ''] = (stderr.trim() || message).split('\n')
  return line.slice(0, 200)
}
