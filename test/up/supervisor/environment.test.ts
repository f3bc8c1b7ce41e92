import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { cleanEnvironment, readEnvFileSync } from '../../../src/up/supervisor/environment.ts'

test("cleanEnvironment() keeps the session's variables, and nothing else of a shell", () => {
  const session = { HOME: '/h', LANG: 'de_DE.UTF-8', LC_ALL: 'C', TZ: 'UTC', XDG_RUNTIME_DIR: '/run/user/0' }
  const others = {
    PATH: '/x',
    ANTHROPIC_API_KEY: 'k',
    NODE_OPTIONS: '-r x',
    CRABTALK_OWNER: '1',
    MY_LC_ALL: 'x',
  }
  assert.deepEqual(cleanEnvironment({ ...session, ...others, USER: undefined }, 'linux'), session)
  const windows = {
    SYSTEMROOT: 'C:\\Windows',
    Path: 'x',
    UserProfile: 'C:\\Users\\a',
    'ProgramFiles(x86)': 'y',
  }
  const { Path: _, ...rest } = windows
  assert.deepEqual(cleanEnvironment({ ...windows, HOME: 'x' }, 'win32'), rest)
})

test('readEnvFileSync() reads lines with quotes and comments; a missing file is empty', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-env-'))
  const path = join(dir.path, 'service.env')
  assert.deepEqual(readEnvFileSync(path), {})
  await writeFile(path, '# no=1\nA=1\nB=\'x y # $A \\n\'\n\nexport C="d"\n')
  assert.deepEqual({ ...readEnvFileSync(path) }, { A: '1', B: 'x y # $A \\n', C: 'd' })
})
