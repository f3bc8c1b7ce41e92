import { homedir } from 'node:os'
import { homePaths } from '../../src/core/config/paths.ts'
import { type Dispatch, request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'

/**
 * Talks in the conversation (crab, ann) of a home. `HOME NAME COUNT` performs COUNT operations, one after the
 * other, and prints each acknowledged one as a line; `HOME crash` is killed between an archive and its
 * marker, and `HOME try` prints the error kind of a failed compaction.
 */
const [home = '', name = '', count = '0'] = process.argv.slice(2)
const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
const services = compose({
  paths: homePaths({ CRABTALK_HOME: home }, { cwd: home, homeDir: '' }),
  env: {},
  pid: process.pid,
  uid: process.getuid?.() ?? 0,
  cwd: home,
  homeDir: homedir(),
  log: () => {},
  ripgrep: async () => undefined,
  searchWorker: async () => undefined,
})
const dispatch = route(handlers(services, 'process'))
if (name === 'crash') await crash()
else if (name === 'try')
  await request(dispatch, 'compact', PAIR, NEVER).catch(({ kind }) => say('failed', kind))
else for (let index = 0; index < Number(count); index++) await act(`${name}-${index}`)
await services[Symbol.asyncDispose]()

async function act(text: string): Promise<void> {
  const dice = Math.random()
  if (dice < 0.25) await compact(dispatch)
  else if (dice < 0.35) await retitle(text)
  else await talk(text)
}

async function talk(text: string): Promise<void> {
  const isCancelled = Math.random() < 0.2
  for await (const { event } of streamTurn(dispatch, { ...PAIR, content: text }, NEVER)) {
    if (event?.$case === 'start') say('stored', text)
    if (event?.$case === 'userSteered') say('stored', event.value.content)
    if (event?.$case === 'steerReturned') say('returned', event.value.content)
    if (event?.$case !== 'chunk') continue
    if (Math.random() < 0.5) await allow(['missing'], steer(`${text}s${Math.random().toString(36).slice(2)}`))
    if (isCancelled) await allow([], request(dispatch, 'kill', PAIR, NEVER))
  }
}

async function steer(content: string): Promise<void> {
  await request(dispatch, 'steerSession', { ...PAIR, content }, NEVER)
  say('steered', content)
}

async function compact(to: Dispatch): Promise<void> {
  const { archive = '' } = (await allow(['invalid', 'missing'], request(to, 'compact', PAIR, NEVER))) ?? {}
  if (archive !== '') say('archived', archive)
}

async function retitle(title: string): Promise<void> {
  await allow(
    ['missing', 'conflict'],
    request(dispatch, 'getSession', PAIR, NEVER).then(({ id }) =>
      request(dispatch, 'setTitle', { session: id, title }, NEVER),
    ),
  )
}

async function crash(): Promise<void> {
  const { storage } = services.stores
  const append = storage.append.bind(storage)
  storage.append = async (id, at, lines) => {
    if (lines.some(({ kind }) => kind === 'compact')) process.kill(process.pid, 'SIGKILL')
    return await append(id, at, lines)
  }
  await request(dispatch, 'compact', PAIR, NEVER)
}

async function allow<T>(kinds: readonly string[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (reason) {
    if (kinds.includes((reason as { kind?: string }).kind ?? '')) return undefined
    throw reason
  }
}

function say(what: string, text: string): void {
  process.stdout.write(`${what} ${text}\n`)
}
