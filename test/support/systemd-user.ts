import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

/** A real `systemd --user` for one test. */
export interface SystemdUser extends AsyncDisposable {
  /** The environment for programs that use it, with only the PATH of this process. */
  env: Readonly<Record<string, string>>
  /** The folder in which it looks for units, which does not exist yet. */
  unitFolder: string
  /** A folder for files of the test; removed with it. */
  folder: string
}

/** Whether it can be started here: it requires systemd, cgroups v2, and root for a mount namespace. */
export function canRunSystemd(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || cgroupRoot() === undefined) return false
  const probes = [
    ['systemctl', '--version'],
    ['systemd-analyze', '--version'],
    ['setpriv', '--version'],
    ['unshare', '--mount', '--cgroup', 'mount', '-t', 'cgroup2', 'none', '/sys/fs/cgroup'],
  ] as const
  return existsSync(SYSTEMD) && probes.every(([tool, ...args]) => spawnSync(tool, args).status === 0)
}

/**
 * Starts it in its own mount namespace and control group, without a bus: systemctl talks to its private socket.
 * It believes that systemd booted this machine, which only its namespace shows, and ends with this process.
 */
export async function startSystemdUser(): Promise<SystemdUser> {
  const folder = await mkdtemp(join(tmpdir(), 'crab-sd-'))
  const cgroup = join(cgroupRoot()!, `crab-test-${process.pid}-${folder.slice(-6)}`)
  const env = {
    HOME: join(folder, 'user'),
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    XDG_RUNTIME_DIR: join(folder, 'run'),
    XDG_CONFIG_HOME: join(folder, 'con fig'), // a space, as in the paths of some users
  }
  for (const path of [env.HOME, env.XDG_RUNTIME_DIR]) await mkdir(path, { mode: 0o700 })
  await mkdir(cgroup)
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', 'sh', '-c', ENTER, cgroup, SYSTEMD], {
    env,
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const user: SystemdUser = {
    env,
    unitFolder: join(env.XDG_CONFIG_HOME, 'systemd/user'),
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await writeFile(join(cgroup, 'cgroup.kill'), '1').catch(() => undefined) // since Linux 5.14; otherwise it ends gracefully
      await exited
      await until('its control groups are empty', () => removeGroups(cgroup))
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await until('systemd answers', () => spawnSync('systemctl', ['--user', 'show'], { env }).status === 0)
  return user
}

const SYSTEMD = '/lib/systemd/systemd'

/** Every step uses `exec`, so that the started process becomes systemd. */
const ENTER = `echo $$ > "$0/cgroup.procs" &&
exec unshare --mount --cgroup sh -c '
mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs none /run && mkdir -p /run/systemd/system &&
exec "$0" --user' "$1"`

function cgroupRoot(): string | undefined {
  return ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find(
    (path) => existsSync(join(path, 'cgroup.procs')) && isWritable(path),
  )
}

/** Whether control groups are writable; containers may mount them read-only. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Removes control groups; returns false while a process is left in one of them. */
async function removeGroups(group: string): Promise<boolean> {
  const entries = await readdir(group, { withFileTypes: true })
  for (const entry of entries) {
    if (entry.isDirectory() && !(await removeGroups(join(group, entry.name)))) return false
  }
  return await rmdir(group).then(
    () => true,
    () => false,
  )
}
