import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A mounted file system in a temporary folder; disposing unmounts and removes it. */
export interface TestMount extends Disposable {
  readonly path: string
}

/** Mounts an empty file system of this size; undefined when this user cannot mount. */
export function mountSmallDisk(kilobytes: number): TestMount | undefined {
  return mount((path) => ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', path])
}

/** Mounts a read-only view of a folder, which root cannot write either; undefined when this user cannot mount. */
export function mountReadOnly(folder: string): TestMount | undefined {
  return mount(
    (path) => ['--bind', folder, path],
    (path) => ['-o', 'remount,ro,bind', path],
  )
}

function mount(...steps: ((path: string) => string[])[]): TestMount | undefined {
  const path = mkdtempSync(join(tmpdir(), 'crab-mount-'))
  try {
    for (const step of steps) execFileSync('mount', step(path), { stdio: 'ignore' })
  } catch {
    rmdirSync(path) // no permission to mount, or no such command: the caller handles it
    return undefined
  }
  return {
    path,
    [Symbol.dispose]() {
      execFileSync('umount', [path])
      rmdirSync(path)
    },
  }
}
