import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Installs a `secret-tool` whose secrets are files of `keyring`, and which records its arguments in `calls`. With
 * KILL_AT set to one of its commands, it kills its caller then: after `store`, before `clear`.
 */
export async function installKeyring(folder: string, bin: string): Promise<Record<string, string>> {
  await mkdir(join(folder, 'keyring'))
  await writeFile(join(bin, 'secret-tool'), SECRET_TOOL, { mode: 0o755 })
  return { KEYRING: folder }
}

/** The commands of secret-tool that crabtalk uses; the last attribute names the file of a secret. */
const SECRET_TOOL = `#!/bin/sh
echo "$@" >> "$KEYRING/calls"
for last; do :; done
[ "$1" = clear ] && [ "$KILL_AT" = clear ] && kill -9 $PPID
case $1 in
  store) cat > "$KEYRING/keyring/$last" ;;
  lookup) cat "$KEYRING/keyring/$last" 2>/dev/null ;;
  clear) [ "$KILL_AT" = clear ] || rm -f "$KEYRING/keyring/$last" ;;
esac
[ "$1" = store ] && [ "$KILL_AT" = store ] && kill -9 $PPID
exit 0
`
