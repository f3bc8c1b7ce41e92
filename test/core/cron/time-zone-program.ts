import { rm, symlink } from 'node:fs/promises'
import { processHost } from '../../../bin/host.ts'
import { zoneFollower } from '../../../src/core/cron/time-zone.ts'

/**
 * Simulates a machine that moves to Tokyo, with its own /etc: prints what is reported before and after, and
 * an hour there.
 */
const moved = zoneFollower(processHost())
const before = await moved()
await rm('/etc/localtime', { force: true })
await symlink('/usr/share/zoneinfo/Asia/Tokyo', '/etc/localtime')
process.stdout.write(`${before} ${await moved()} ${new Date(0).getHours()}\n`)
