/** A shell script that answers what an update tries a program with, as crabtalk of that version does. */
export function scriptProgram(version: string): string {
  return `#!/bin/sh
case "$*" in
  --version) echo crabtalk ${version} ;;
  'config check --json') echo '[]' ;;
  '--as-crabup list --json') echo '[{"name":"daemon"}]' ;;
esac
`
}
