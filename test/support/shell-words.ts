import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs lines whose only command is `p` in a real shell: returns for each line the words of every `p` that
 * ran, sorted.
 *
 * One process runs all lines, in an empty folder, without any program on its PATH; globs stay as they are.
 */
export function shellWords(shell: string, lines: readonly string[]): string[][][] {
  const directory = mkdtempSync(join(tmpdir(), 'crab-shell-'))
  try {
    const cwd = join(directory, 'empty')
    const record = join(directory, 'record')
    mkdirSync(cwd)
    writeFileSync(record, '')
    for (const [i, line] of lines.entries()) writeFileSync(join(directory, `${i}.sh`), line)
    const each = `while [ "$LINE" -lt ${lines.length} ]; do ( . "$FOLDER/$LINE.sh"; wait ); LINE=$((LINE + 1)); done`
    const script = ['PATH=/nonexistent; set -f; LINE=0', PRINTER, each].join('\n')
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', RECORD: record, FOLDER: directory }
    execFileSync(shell, ['-c', script], { cwd, env, stdio: 'ignore' })
    assert.deepEqual(readdirSync(cwd), [], 'a line wrote a file')
    return toWords(readFileSync(record, 'utf8'), lines.length)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Writes once per command, so that concurrent ones do not mix; bash's own printf writes line by line. */
const PRINTER = `END=$(printf '\\002'); p() { /usr/bin/printf '%s\\001' "$LINE" "$@" "$END" >>"$RECORD"; }`

function toWords(record: string, count: number): string[][][] {
  const lines: string[][][] = Array.from({ length: count }, () => [])
  for (const command of record.split('\x02\x01').slice(0, -1)) {
    const [line, ...words] = command.split('\x01').slice(0, -1)
    lines[Number(line)]!.push(words)
  }
  return lines.map(sortedCommands)
}

/** Sorts commands independently of the order in which they ran. */
export function sortedCommands(commands: readonly (readonly string[])[]): string[][] {
  return commands.map((words) => [...words]).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
