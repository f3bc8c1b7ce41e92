import { test } from 'node:test'
import { checkLines } from '../../support/policy-lines.ts'

test('a restricting rule matches a sub-command after options of its program', () => {
  checkLines([
    [
      'deny',
      ['allow bash', 'deny bash(git push *)'],
      ['git -C . push', 'git -c a=b push', 'git -c a=b -C x -p push origin', '/usr/bin/git --no-pager push'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(git push *)'],
      ['git --git-dir=x push', 'git --git-dir x --work-tree y push', 'git --exec-path=x --bare push'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(git push *)'],
      ['git --namespace n --literal-pathspecs push', 'sudo git -C . push', "sh -c 'git -C . push'"],
    ],
    ['ask', ['allow bash', 'ask bash(git push *)'], ['git -C . push', 'ls; git -C . push']],
    [
      'deny',
      ['allow bash', 'deny bash(npm publish *)', 'deny bash(pnpm publish *)', 'deny bash(yarn publish *)'],
      [
        'npm --prefix x publish',
        'npm --loglevel silent publish',
        'npm --silent publish',
        'pnpm -C x publish',
      ],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(npm run deploy)', 'deny bash(yarn publish *)'],
      ['npm run --prefix x deploy', 'npm run deploy --prefix x', 'yarn --cwd x publish'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(docker rm *)', 'deny bash(kubectl delete *)'],
      ['docker -H x rm a', 'docker --context c --config d -l info rm a', 'kubectl -n x delete pod'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(kubectl delete pods *)', 'deny bash(cargo publish *)'],
      [
        'kubectl --context c --kubeconfig=k delete pods',
        'kubectl delete -n x pods',
        'cargo +nightly publish',
      ],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(cargo publish *)', 'deny bash(make clean)', 'deny bash(gh pr merge *)'],
      ['cargo --config a=b publish', 'make -C x clean', 'make -f m -j 4 clean', 'gh -R a/b pr merge 1'],
    ],
  ])
})

test('options of a program do not affect other sub-commands or allow rules', () => {
  checkLines([
    [
      'allow',
      ['allow bash', 'deny bash(git push *)'],
      ['git -C push log', 'git -c push=1 log', 'git log -C push', 'git -p log push', 'git stash push'],
    ],
    [
      'allow',
      ['allow bash', 'deny bash(npm publish *)'],
      ['npm -s run publish', 'npm --prefix publish test'],
    ],
    ['ask', ['allow bash(git log *)'], ['git -C . log', 'git -c a=b log']],
  ])
})
