import { readdir } from 'node:fs/promises'
import { userInfo } from 'node:os'

/** Where systemd-logind remembers whose user manager runs on when nobody is logged in. */
const LINGER = '/var/lib/systemd/linger'

/** Whether services of a user run on after the last logout. */
export async function isLingering(
  { env }: { env: Readonly<Record<string, string | undefined>> },
  folder = LINGER,
): Promise<boolean> {
  const users = await readdir(folder).catch((): string[] => []) // made for the first one
  return users.includes(env['USER'] || userInfo().username)
}
