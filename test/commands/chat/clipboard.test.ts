import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyText } from '../../../src/commands/chat/clipboard-copy.ts'
import { pasteClipboard } from '../../../src/commands/chat/clipboard-paste.ts'
import { openTestHost } from '../../support/process-platforms.ts'

const NEVER = new AbortController().signal
const PNG = Buffer.from('89504e470d0a1a0a0001', 'hex')
const TEXT = 'line one\nzwei „drei“'

/** The available programs, the environment, and the program that copies. */
const COPIES: [string[], Record<string, string>, NodeJS.Platform, string][] = [
  [['wl-copy', 'xclip'], { WAYLAND_DISPLAY: 'w', DISPLAY: ':0' }, 'linux', 'wl-copy'],
  [['wl-copy', 'xclip'], { DISPLAY: ':0' }, 'linux', 'xclip'],
  [['xsel'], { DISPLAY: ':0' }, 'linux', 'xsel'],
  [['clip.exe'], { WSL_DISTRO_NAME: 'd' }, 'linux', 'clip.exe'],
  [['pbcopy'], {}, 'darwin', 'pbcopy'],
  [['tmux'], { TMUX: 't' }, 'linux', 'tmux'],
  [['tmux', 'wl-copy'], { TMUX: 't', WAYLAND_DISPLAY: 'w', SSH_TTY: 's' }, 'linux', 'tmux'],
]

test('copyText() uses the program of the system', async () => {
  for (const [programs, env, platform, used] of COPIES) {
    await using box = await openBox(programs.map((name) => [name, 'cat > "$COPIED/$(basename "$0")"']))
    assert.equal(await copyText(TEXT, { ...box.system(env, platform) }), `copied with ${used}`)
    assert.equal(await readFile(join(box.path, used), 'utf8'), TEXT)
    assert.deepEqual(box.written, [])
  }
})

test('copyText() passes the text to PowerShell on Windows', async () => {
  const script = 'test "$1 $2" = "-NoProfile -NonInteractive" && cat "$CRABTALK_COPY" > "$COPIED/text"'
  await using box = await openBox([['powershell.exe', script]])
  assert.equal(await copyText(TEXT, box.system({ TMUX: 't' }, 'win32')), 'copied with powershell.exe')
  assert.equal(await readFile(join(box.path, 'text'), 'utf8'), TEXT)
})

test('copyText() uses the terminal over ssh, without a program, and when the program fails', async () => {
  const sequences = [`\x1b]52;c;${Buffer.from(TEXT).toString('base64')}\x07`]
  await using box = await openBox([['wl-copy', 'exit 1']])
  for (const env of [{}, { WAYLAND_DISPLAY: 'w' }, { WAYLAND_DISPLAY: 'w', SSH_CONNECTION: 's' }]) {
    assert.equal(await copyText(TEXT, box.system(env)), 'copied by the terminal')
    assert.deepEqual(box.written.splice(0), sequences)
  }
  await copyText(TEXT, box.system({ TMUX: 't' }))
  assert.deepEqual(box.written, [`\x1bPtmux;\x1b${sequences[0]}\x1b\\`])
})

test('copyText() rejects text that is too long for a terminal', async () => {
  await using box = await openBox([])
  await assert.rejects(copyText('x'.repeat(60_000), box.system({})), { kind: 'invalid' })
  assert.deepEqual(box.written, [])
})

test('a process that serves the clipboard outlives copyText()', async () => {
  await using box = await openBox([['wl-copy', 'cat > "$COPIED/text"; (sleep 60 & echo $! > "$COPIED/pid")']])
  await copyText(TEXT, box.system({ WAYLAND_DISPLAY: 'w' }))
  const pid = Number(await readFile(join(box.path, 'pid'), 'utf8'))
  assert.ok(process.kill(pid, 0))
  process.kill(pid)
})

const IMAGE = `cat "$COPIED/image.png"`

test('pasteClipboard() returns an image, otherwise text', async () => {
  const wayland = { WAYLAND_DISPLAY: 'w' }
  await using both = await openBox([['wl-paste', `case "$*" in *image*) ${IMAGE};; *) printf text;; esac`]])
  assert.deepEqual(await both.paste(wayland), PICTURE)
  await using text = await openBox([
    ['wl-paste', 'case "$*" in *image*) exit 1;; *) printf "a\\r\\nb";; esac'],
  ])
  assert.equal(await text.paste(wayland), 'a\nb')
  await using x11 = await openBox([['xclip', `case "$*" in *image*) ${IMAGE};; *) printf text;; esac`]])
  assert.deepEqual(await x11.paste({ DISPLAY: ':0' }), PICTURE)
})

test('pasteClipboard() reads the formats of macOS and Windows', async () => {
  await using mac = await openBox([
    ['osascript', `printf '«data PNGf${PNG.toString('hex').toUpperCase()}»\\n'`],
  ])
  assert.deepEqual(await mac.paste({}, 'darwin'), PICTURE)
  await using pbpaste = await openBox([
    ['osascript', 'exit 1'],
    ['pbpaste', 'printf text'],
  ])
  assert.equal(await pbpaste.paste({}, 'darwin'), 'text')
  await using windows = await openBox([['powershell.exe', `printf '${PNG.toString('base64')}\\r\\n'`]])
  assert.deepEqual(await windows.paste({}, 'win32'), PICTURE)
})

test('pasteClipboard() returns nothing for an empty or unavailable clipboard', async () => {
  await using empty = await openBox([['wl-paste', 'exit 1']])
  assert.equal(await empty.paste({ WAYLAND_DISPLAY: 'w' }), undefined)
  await using none = await openBox([])
  assert.equal(await none.paste({ WAYLAND_DISPLAY: 'w', DISPLAY: ':0' }), undefined)
  assert.equal(await none.paste({}), undefined)
})

const PICTURE = { name: 'clipboard.png', mediaType: 'image/png', data: PNG }

/** Creates a folder of programs that a script plays; what they copy is written to the folder. */
async function openBox(programs: readonly (readonly string[])[]) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const bin = join(folder.path, 'bin')
  await mkdir(bin)
  for (const [name, script] of programs) {
    await writeFile(join(bin, name!), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`)
    await chmod(join(bin, name!), 0o755)
  }
  await writeFile(join(folder.path, 'image.png'), PNG)
  const written: string[] = []
  const system = (env: Record<string, string>, platform: NodeJS.Platform = 'linux') => ({
    env: { ...env, PATH: bin, COPIED: folder.path },
    platform,
    cwd: folder.path,
    writeToTerminal: (sequence: string) => void written.push(sequence),
  })
  return Object.assign(folder, {
    written,
    system,
    async paste(env: Record<string, string>, platform?: NodeJS.Platform) {
      await using processes = openTestHost()
      return await pasteClipboard({ ...system(env, platform), processes }, NEVER)
    },
  })
}
