import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

// A standalone program: formats and lints the proto file and generates the codec from it; with `--check` it
// changes nothing and fails unless everything is up to date. Needs no network.
const ROOT = join(import.meta.dirname, '..')
const GENERATED = 'crabtalk.generated.ts'
const TARGET = join(ROOT, 'src/core/protocol', GENERATED)

/** The options of ts-proto; ADR 0010 gives the reason for each. */
const TS_PROTO_OPTIONS = [
  'oneof=unions-value',
  'enumsAsLiterals=true',
  'removeEnumPrefix=true',
  'unrecognizedEnum=false',
  'outputJsonMethods=false',
  'useExactTypes=false',
  'annotateFilesWithVersion=false',
  'importSuffix=.ts',
  'fileSuffix=.generated',
]

/** node_modules/.bin/buf is only a launcher: the program is in an optional package for each platform. */
const BUF_MISSING =
  'Cannot run buf: its package for this platform is missing; run npm ci without --omit=optional'

try {
  await (process.argv.includes('--check') ? check() : generate())
} catch (reason) {
  console.error((reason as Error).message)
  process.exitCode = 1
}

async function generate(): Promise<void> {
  await buf('format', '-w')
  await buf('lint')
  await writeFile(TARGET, await generateCodec())
}

async function check(): Promise<void> {
  await buf('lint')
  if ((await buf('format', '-d')) !== '') throw stale('proto/crabtalk.proto is not formatted')
  const [codec, committed] = await Promise.all([generateCodec(), readFile(TARGET, 'utf8')])
  if (codec !== committed)
    throw stale('src/core/protocol/crabtalk.generated.ts does not match proto/crabtalk.proto')
}

function stale(what: string): Error {
  return new Error(`${what}: run npm run proto`)
}

/** Generates the source text of the codec. */
async function generateCodec(): Promise<string> {
  await using out = await mkdtempDisposable(join(tmpdir(), 'crab-proto-'))
  const tsProto = join(ROOT, 'node_modules/ts-proto/protoc-gen-ts_proto')
  const local = [process.execPath, tsProto] // not through PATH, where `node` may be too old or missing
  const template = { version: 'v2', plugins: [{ local, out: out.path, opt: TS_PROTO_OPTIONS }] }
  await buf('generate', '--template', JSON.stringify(template))
  return await readFile(join(out.path, GENERATED), 'utf8')
}

/** Runs buf on the project and returns its output; throws its diagnostics. */
async function buf(...args: string[]): Promise<string> {
  const launcher = join(ROOT, 'node_modules/@bufbuild/buf/bin/buf')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [launcher, ...args], { cwd: ROOT })
    return stdout
  } catch (reason) {
    const { stdout, stderr } = reason as { stdout: string; stderr: string }
    throw new Error(stderr.includes('ENOENT') ? BUF_MISSING : `${stdout}${stderr}`.trimEnd())
  }
}
