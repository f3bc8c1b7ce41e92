import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findWide } from '../../../src/core/policy/wide-rules.ts'

/** Returns what else a rule for a command permits, or undefined. */
function permits(words: string): string | undefined {
  return findWide({ effect: 'allow', pattern: `bash(${words})` })?.permits
}

test('findWide() warns about a rule for a command that runs its input', () => {
  const rules = [
    ...[
      'sh',
      'bash',
      '/bin/sh',
      'bash -s',
      'sh -x',
      'python3',
      'python3 -',
      'node',
      'perl',
      'ruby',
      'php',
      'R',
    ],
    ...['uv run -', 'deno run -', 'deno run -A -', 'm4', 'm4 -', 'dc', 'gnuplot', 'crontab -', 'crontab'],
    ...['docker exec -i c sh', 'kubectl exec -i p -- bash', 'poetry run python', 'uv run python -'],
    ...['sudo sh', 'sudo -s', 'env python3', 'xargs sh', 'ssh host', 'psql', 'sqlite3 a.db', 'at now'],
  ]
  for (const rule of rules) assert.match(permits(rule) ?? '', /^any command/, rule)
})

test('findWide() warns about rules that allow any options of a program', () => {
  const names = [
    ...'eslint prettier jest vitest ava mocha pytest mypy tsc ruff gofmt psql mysql sqlite3 tar zip cp mv ln tee'.split(
      ' ',
    ),
    ...'dd install rsync java gcc cc cmake openssl crontab systemctl cargo make node python3 sh ssh curl'.split(
      ' ',
    ),
    ...[
      'git send-email',
      'git init',
      'git apply',
      'git credential',
      'gh gist',
      'gh pr',
      'npm run',
      './x',
      'scripts/x',
    ],
    ...[
      'sudo python3',
      'timeout 60 npm',
      'env FOO=1 node',
      'sudo',
      'systemctl restart',
      '/usr/bin/tee',
      'gh pr create',
    ],
  ]
  for (const name of names) {
    const wide = findWide({ effect: 'allow', pattern: `bash(${name} *)` })
    assert.ok(wide && wide.permits !== '' && wide.instead !== '', name)
    assert.equal(findWide({ effect: 'deny', pattern: `bash(${name} *)` }), undefined, name)
  }
})

test('findWide() does not warn about narrow rules', () => {
  const rules = [
    ...[
      ...[
        'uv run a.py',
        'uv sync',
        'crontab -l',
        'crontab jobs',
        'm4 a.m4',
        'dc -e 1',
        'gnuplot a.gp',
        'bun run',
      ],
      ...[
        'docker exec c ls',
        'docker run web',
        'deno run a.ts',
        'docker compose up',
        'bun run build',
        'xargs',
      ],
      'npm test',
      'git status',
      'make test',
      'make',
      'eslint src',
      'node x.js',
      'sh x.sh',
      'python3 -m pytest',
      './x',
    ],
    ...[
      'python3 --version',
      'node -e 1',
      'sudo ls',
      'ssh host ls',
      'timeout 60 npm test',
      'env FOO=1 ls',
      'cp a b',
    ],
    ...[
      'npm test *',
      'npm run build *',
      'git commit *',
      'gh pr view *',
      'timeout 60 npm test *',
      'mkdir *',
      'ls *',
    ],
    ...['node scripts/build *', 'docker ps *', 'sqlite3 a.db .tables', 'find . -delete', 'psql -c x'],
  ]
  for (const rule of rules) assert.equal(permits(rule), undefined, rule)
})

test('findWide() says that commands started by another command need their own rules', () => {
  for (const name of ['xargs', 'env', 'timeout']) {
    const wide = findWide({ effect: 'allow', pattern: `bash(${name} *)` })
    assert.deepEqual(wide, {
      permits: `${name} alone`,
      instead: `what it starts needs a rule of its own, such as bash(${name} npm test *)`,
    })
  }
})
