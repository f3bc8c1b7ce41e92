import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ShellPathContext, snapshotPath } from '../../src/up/path-snapshot.ts'

const SYSTEM = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']

test("snapshotPath() keeps the shell's order without duplicates, and appends the usual directories", () => {
  const there = ['/home/me/.local/bin', '/home/me/.cargo/bin']
  const {
    path,
    omitted: left,
    versionedNode,
  } = snapshot({ path: '/opt/tools/:/usr/bin:/opt/tools:/sbin', there })
  const first = ['/opt/tools', '/usr/bin', '/sbin', ...there]
  assert.deepEqual(path.split(':'), [...first, ...SYSTEM.filter((folder) => !first.includes(folder))])
  assert.deepEqual([left, versionedNode], [[], undefined])
})

const PASSING = [
  '/tmp/x/bin',
  '/run/user/1000/app/bin',
  '/home/me/code/site/node_modules/.bin',
  '/home/me/code/site/.venv/bin',
  '/home/me/code/site/scripts',
  '/home/me/.nvm/versions/node/v22.1.0/bin',
  '/home/me/.local/share/mise/installs/node/22.1.0/bin',
  '/home/me/.local/share/fnm/node-versions/v22.1.0/installation/bin',
  '/run/user/1000/fnm_multishells/12_34/bin',
  '/opt/homebrew/Cellar/node/22.1.0/bin',
  '/nix/store/abc-node-22/bin',
  '/home/me/.npm/_npx/12ab/node_modules/.bin',
]

for (const folder of PASSING) {
  test(`snapshotPath() omits ${folder}`, () => {
    const cwd = folder.endsWith('/scripts') ? '/home/me/code/site' : '/home/me'
    const { path, omitted: left } = snapshot({ path: `${folder}:/usr/bin`, programs: ['/usr/bin/node'], cwd })
    assert.deepEqual(path.split(':'), ['/usr/bin', ...SYSTEM.filter((one) => one !== '/usr/bin')])
    assert.deepEqual(left, [folder])
  })
}

test('snapshotPath() silently omits directories that are relative, empty, or would break a unit file', () => {
  const { path, omitted: left } = snapshot({ path: '::bin:./x:/a\nb:/c"d:/usr/bin' })
  assert.deepEqual([path.split(':').toSorted(), left], [SYSTEM.toSorted(), []])
})

test('snapshotPath() uses the shims of a version manager in place of its versions', () => {
  const shims = ['/home/me/.asdf/shims', '/home/me/.local/share/fnm/aliases/default/bin']
  const path = [
    '/home/me/.asdf/installs/nodejs/22.1.0/bin',
    '/home/me/.local/share/fnm/node-versions/v22.1.0/installation/bin',
  ].join(':')
  const snapshotted = snapshot({ path, there: shims, programs: [`${shims[0]}/node`] })
  assert.deepEqual(snapshotted.path.split(':').slice(0, 2), shims)
  assert.deepEqual(snapshot({ path, programs: ['/usr/bin/node'] }).path.split(':'), SYSTEM)
})

test('snapshotPath() appends the directory of Node when no permanent one has it', () => {
  const nvm = '/home/me/.nvm/versions/node/v22.1.0/bin'
  const {
    path,
    omitted: left,
    versionedNode,
  } = snapshot({ path: `/tmp/x:${nvm}`, programs: [`${nvm}/node`, '/tmp/x/node'] })
  assert.deepEqual([path.split(':').at(-1), left, versionedNode], [nvm, ['/tmp/x'], nvm])
})

test('snapshotPath() treats the working directory as a project, but not the home directory or its parents', () => {
  const path = '/home/me/tools/bin'
  for (const cwd of ['/home/me', '/home', '/']) assert.deepEqual(snapshot({ path, cwd }).omitted, [], cwd)
  for (const cwd of ['/home/me/tools', '/home/m']) {
    assert.deepEqual(snapshot({ path: `${cwd}/bin`, cwd }).omitted, [`${cwd}/bin`], cwd)
  }
})

test('snapshotPath() knows the separators and directories of Windows and macOS', () => {
  const windows = snapshot({
    path: 'C:\\Tools\\;C:\\Users\\me\\AppData\\Local\\Temp\\x;c:\\code\\node_modules\\.bin',
    platform: 'win32',
    homeDir: 'C:\\Users\\me',
    cwd: 'C:\\Users\\me',
    temporary: ['C:\\Users\\me\\AppData\\Local\\Temp'],
  })
  assert.equal(windows.path, 'C:\\Tools;C:\\Windows\\System32;C:\\Windows')
  const mac = snapshot({ path: '/var/folders/ab/T/x', platform: 'darwin', there: ['/opt/homebrew/bin'] })
  assert.deepEqual(mac.path.split(':'), ['/opt/homebrew/bin', ...SYSTEM])
})

function snapshot({
  there = [],
  programs = [],
  ...setting
}: Partial<ShellPathContext> & { path: string; there?: readonly string[]; programs?: readonly string[] }) {
  return snapshotPath({
    platform: 'linux',
    homeDir: '/home/me',
    cwd: '/home/me/code/site',
    temporary: ['/tmp', '/run/user', '/var/folders'],
    isDirectory: (path) => there.includes(path),
    hasProgram: (folder, name) => programs.includes(`${folder}/${name}`),
    ...setting,
  })
}
