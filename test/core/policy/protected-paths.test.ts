import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../../src/core/policy/decide.ts'
import { findGuard } from '../../../src/core/policy/protected-paths.ts'
import type { Decision, PolicyContext, RuleEffect } from '../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'

const PROTECTED = [
  '.git/config .git/hooks/pre-commit src/.git/hooks/x .GIT/config .envrc a/.envrc .vscode/tasks.json .idea/x .husky/_/x',
  'AGENTS.md src/agents.md CLAUDE.md Crab.md .crabtalk/mcp.toml .claude/settings.json .cursor/mcp.json .mcp.json .npmrc',
  '/home/ann/.bashrc /home/ann/.zshenv /home/ann/.profile /home/ann/.ssh/authorized_keys /home/ann/.gitconfig',
  '/home/ann/.config/autostart/x.desktop /home/ann/.config/fish/config.fish /home/ann/bin/ls /home/ann/.local/bin/ls',
  '/home/ann/.crabtalk/skills/x/SKILL.md /home/ann/.crabtalk/Crab.md /srv/other/.git/config /home/ann/.aws/config',
  '.yarnrc.yml packages/a/.pnpmfile.cjs mise.toml .mise.toml .tool-versions .github/workflows/ci.yml .zed/tasks.json',
  '.codex/config.toml .gemini/settings.json GEMINI.md .opencode/x .windsurf/rules .cargo/config.toml /home/ann/.cargo/env',
  '/home/ann/.vim/plugin/x.vim /home/ann/.config/nvim/init.lua /home/ann/.emacs /home/ann/.emacs.d/init.el',
  '/home/ann/.config/zsh/.zshrc /home/ann/.oh-my-zsh/x /home/ann/.config/powershell/profile.ps1 /home/ann/.config/pip/pip.conf',
  '/home/ann/.local/share/applications/x.desktop /home/ann/.password-store/a.gpg',
].flatMap((line) => line.split(' '))

const PLAIN = [
  'src/a.ts .gitignore .githubx/a .emacs .vim/x .password-store/x git/config docs/agents.md.txt AGENTS.md/x .env envrc vscode/x bin/ls',
  '/home/ann/notes/.bashrc.md /home/ann/x/.bashrc /home/ann/.config/other/x /srv/x/.ssh/config',
].flatMap((line) => line.split(' '))

test('no rule for many files and no mode changes a protected path without asking', () => {
  for (const path of PROTECTED) {
    for (const rule of [
      'edit',
      'edit(**)',
      'edit(/**)',
      'edit(~/**)',
      '*',
      'edit(src/**)',
      'edit(*)',
      'edit(.*)',
    ]) {
      assert.equal(judge(path, [`allow ${rule}`]).effect, 'ask', `${path} with ${rule}`)
    }
    assert.equal(judge(path, [], { mode: 'edits' }).effect, 'ask', path)
    assert.equal(judge(path, ['allow edit'], { trust: 'unattended' }).effect, 'ask', path)
    assert.equal(judge(path, [], { trust: 'remote' }).effect, 'deny', path)
    assert.equal(judge(path, ['deny edit']).effect, 'deny', path)
    assert.equal(judge(path, [], { mode: 'read-only' }).effect, 'deny', path)
  }
  for (const path of PLAIN) assert.equal(judge(path, ['allow edit(/**)']).effect, 'allow', path)
})

test('a rule that names a protected path allows it, and is what is suggested', () => {
  const rows: [path: string, rule: string, effect: RuleEffect][] = [
    ['.git/config', 'edit(.git/**)', 'allow'],
    ['src/.git/config', 'edit(src/.git)', 'allow'],
    ['AGENTS.md', 'edit(AGENTS.md)', 'allow'],
    ['src/AGENTS.md', 'edit(**/AGENTS.md)', 'allow'],
    ['.vscode/tasks.json', 'edit(.vscode/*.json)', 'allow'],
    ['/home/ann/.ssh/config', 'edit(~/.ssh/config)', 'allow'],
    ['.git/config', 'edit(.gi*/**)', 'ask'],
    ['.git/config', 'edit(AGENTS.md)', 'ask'],
    ['/home/ann/.crabtalk/Crab.md', 'edit(~/.crabtalk/Crab.md)', 'ask'],
  ]
  for (const [path, rule, effect] of rows)
    assert.equal(judge(path, [`allow ${rule}`]).effect, effect, `${path} ${rule}`)
  for (const path of PROTECTED) {
    const { suggestions } = judge(path, [])
    const isAlways = /crabtalk\/(skills|Crab)/.test(path)
    assert.equal(suggestions.length, isAlways ? 0 : 1, path)
    if (!isAlways) assert.equal(judge(path, [`allow ${suggestions[0]}`]).effect, 'allow', path)
  }
})

test('the reason names a protected path as it is written', () => {
  for (const [path, name] of [
    ['src/AGENTS.md', 'AGENTS.md'],
    ['.GitHub/workflows/x.yml', '.GitHub'],
    ['/home/ann/.crabtalk/Crab.md', 'Crab.md'],
    ['/home/ann/.config/nvim/init.lua', 'nvim'],
  ]) {
    const { reason } = judge(path!, [])
    assert.ok(reason.startsWith(`${name} is a protected path, which `), reason)
  }
})

test('a user who allows everything is asked only about what instructs every agent', () => {
  for (const path of PROTECTED) {
    const effect = /crabtalk\/(skills|Crab)/.test(path) ? 'ask' : 'allow'
    assert.equal(judge(path, [], { mode: 'all' }).effect, effect, path)
  }
})

test('a working directory inside a protected folder is treated like any other', () => {
  const workspace = '/home/ann/.crabtalk/workspace/crab'
  assert.equal(judge(`${workspace}/a.txt`, [], { workspace, mode: 'edits' }).effect, 'allow')
  assert.equal(judge(`${workspace}/AGENTS.md`, [], { workspace, mode: 'edits' }).effect, 'ask')
  for (const home of ['/home/ann/.ssh', '/home/ann/.cargo'])
    assert.equal(judge(`${home}/config.toml`, [], { workspace: home, mode: 'edits' }).effect, 'ask', home)
})

function judge(name: string, rules: string[], more: Partial<PolicyContext> = {}): Decision {
  const at = makePolicyContext({ rules: ruleList(rules), ...more })
  const path = name.startsWith('/') ? name : `${at.workspace}/${name}`
  const alwaysAsk = ['/home/ann/.crabtalk/Crab.md', '/home/ann/.crabtalk/skills']
  const guard = findGuard(path, { ...at, alwaysAsk })
  return decide({ kind: 'edit', path, shown: name, ...(guard && { guard }) }, at)
}
