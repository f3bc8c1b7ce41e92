import { migrateServers } from '../../../src/core/config/migrate-servers.ts'
import { homePaths } from '../../../src/core/config/paths.ts'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'

/** Prints `ready`, waits for a line, and then migrates the given home. */
if (import.meta.main) {
  const [home = ''] = process.argv.slice(2)
  const paths = homePaths({ CRABTALK_HOME: home }, { cwd: home, homeDir: '' })
  await using leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: process.pid })
  const never = new AbortController().signal
  process.stdout.write('ready\n')
  process.stdin.once('data', async () => {
    await migrateServers({
      paths,
      lock: (resource) => leases.take(resource, never),
      log: (level, message) => process.stdout.write(`${level} ${message}\n`),
    })
    process.stdin.destroy()
  })
  await new Promise((resolve) => process.stdin.once('close', resolve))
}
