import { platform } from 'node:os'
import { linuxPlatform } from './linux.ts'
import type { Platform } from './platform.ts'
import { posixPlatform } from './posix.ts'
import { windowsPlatform } from './windows.ts'

/** Returns the platform of the system that this process runs on. */
export function ownPlatform(): Platform {
  if (platform() === 'linux') return linuxPlatform()
  return platform() === 'win32' ? windowsPlatform() : posixPlatform()
}
