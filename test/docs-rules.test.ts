import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  PROTECTED_FILES,
  PROTECTED_FOLDERS,
  PROTECTED_HOME_PATHS,
} from '../src/core/base/permission-lists.ts'
import { findWide } from '../src/core/policy/wide-rules.ts'
import { judgeLine } from './support/policy-lines.ts'

const ROOT = join(import.meta.dirname, '..')

/** Lines that get out of a rule that seems harmless. */
const ESCAPES = String.raw`
git diff --no-index /dev/null /etc/passwd
git diff --no-index --output=/tmp/x /dev/null a
git diff --output=x
git diff --ext-diff
git log --output=x
git log -p --ext-diff
git show --textconv HEAD:a
git -c alias.x='!rm v' x
git -c core.pager='rm v' log
git -c core.fsmonitor='rm v' status
git -c core.hooksPath=. commit
git --exec-path=. commit
git -C / status
git --git-dir=/x commit
git config alias.x '!rm v'
git config core.hooksPath .
git push --receive-pack='rm v' .
git fetch --upload-pack='rm v' .
git clone --upload-pack='rm v' a b
git rebase -x 'rm v' HEAD
git bisect run rm v
git submodule foreach 'rm v'
git difftool -x 'rm v'
git grep -O'rm v' x
git archive --remote=a --exec='rm v'
git filter-branch --tree-filter 'rm v'
npm exec -c 'rm v'
npm exec -- rm v
npm x rm v
npm explore a -- rm v
npm config set script-shell ./evil
npm install ./evil
npm run evil
npm test --script-shell=./evil
npm --prefix /evil test
npm test --prefix /evil
npx rm v
npm test; rm v
npm test && rm v
npm test || rm v
npm test | sh
npm test & rm v
npm test $(rm v)
npm test \`rm v\`
npm test > ~/.bashrc
npm test \n rm v
PATH=. npm test
NODE_OPTIONS='-r ./evil' npm test
GIT_SSH_COMMAND='rm v' git commit
GIT_EXTERNAL_DIFF='rm v' git commit
env npm test
sudo npm test
timeout 5 rm v
nohup rm v
xargs rm
find . -exec rm {} +
find . -delete
sh -c 'npm test'
bash -c 'rm v'
eval 'rm v'
node -e 'rm()'
python3 -c 'rm()'
awk 'BEGIN{system("rm v")}'
tar --checkpoint-action=exec='rm v' -cf a b
ssh host rm v
docker run -v /:/x a
crabtalk send --yolo x
make -f evil
curl -T a http://localhost
rm v
/tmp/git commit
./npm test
git commit; rm v
git commit $(rm v)
git commit -m "$(rm v)"
git commit > x
`
  .trim()
  .split('\n')
  .map((line) => line.replaceAll(' \\n ', '\n').replaceAll('\\`', '`'))

test('no rule that the documentation allows lets another command run', async () => {
  const rules = await examples()
  assert.ok(rules.length >= 6, rules.join(' '))
  assert.ok(ESCAPES.length >= 60)
  for (const pattern of rules) assert.equal(findWide({ effect: 'allow', pattern }), undefined, pattern)
  const allow = rules.map((rule) => `allow ${rule}`)
  for (const line of ESCAPES) assert.notEqual(judgeLine(line, allow).effect, 'allow', line)
})

test('the page of permissions lists every protected path', async () => {
  const page = await readFile(join(ROOT, 'docs', 'permissions.md'), 'utf8')
  const section = /^## Protected paths\n(.*?)^## /ms.exec(page)?.[1]?.toLowerCase() ?? ''
  const places = PROTECTED_HOME_PATHS.map((place) => place.replace(/^\.config\//, ''))
  for (const name of [...PROTECTED_FOLDERS, ...PROTECTED_FILES, ...places]) {
    assert.ok(section.includes(`\`${name.toLowerCase()}\``), name)
  }
})

/** The rules but `*`, which means everything, that README, docs/ and help texts give to `--allow` and to `allow = […]`. */
async function examples(): Promise<string[]> {
  const texts = await Promise.all(
    [...(await pages()), ...(await tables())].map((path) => readFile(path, 'utf8')),
  )
  const found = texts.flatMap((text) => {
    const flags = [...text.matchAll(/--allow (?:'([^']+)'|"([^"]+)"|([a-z_*]+))/g)].map(
      ([, a, b, c]) => a ?? b ?? c!,
    )
    const lists = [...text.matchAll(/\ballow = \[([^\]]*)\]/g)].flatMap(([, list = '']) => {
      return [...list.matchAll(/"([^"]+)"/g)].map(([, rule]) => rule!)
    })
    return [...flags, ...lists]
  })
  return [...new Set(found)].filter((rule) => /^(bash|edit|read)(\(|$)|^fetch$|^mcp__/.test(rule))
}

async function pages(): Promise<string[]> {
  const names = await readdir(join(ROOT, 'docs'))
  return [
    join(ROOT, 'README.md'),
    ...names.filter((name) => name.endsWith('.md')).map((name) => join(ROOT, 'docs', name)),
  ]
}

async function tables(): Promise<string[]> {
  const names = await readdir(join(ROOT, 'src', 'commands'), { recursive: true })
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(ROOT, 'src', 'commands', name))
}
