import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listWithheld, serverEnvironment } from '../../../src/mcp/stdio/environment.ts'

test('serverEnvironment() passes on what a program needs to run, and nothing else', () => {
  const needed = {
    DISPLAY: ':0',
    DOCKER_HOST: 'ssh://me@docker.example.com',
    HOME: '/home/me',
    HTTPS_PROXY: 'http://proxy:3128',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    LC_TIME: 'C',
    LOGNAME: 'me',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    PATH: '/bin',
    SHELL: '/bin/sh',
    TEMP: '/t',
    TERM: 'xterm',
    TMP: '/t',
    TMPDIR: '/t',
    USER: 'me',
    XDG_CACHE_HOME: '/cache',
    XDG_RUNTIME_DIR: '/run',
    no_proxy: 'localhost',
    npm_config_registry: 'https://npm.example.com',
  }
  const others = {
    ANTHROPIC_API_KEY: 'sk-1',
    CRABTALK_HOME: '/h',
    HTTP_PROXY: 'http://me:hush@proxy:3128',
    http_proxy: 'me:hush@proxy:3128',
    PIP_INDEX_URL: 'https://hush@pypi.example.com/simple',
    NPM_CONFIG__AUTH: 'hush',
    LCD: '1',
    MY_PATH: '1',
    NODE_OPTIONS: '--inspect',
    OPENAI_API_KEY: 'sk-2',
    PWD: '/p',
    XDG: '1',
  }
  assert.deepEqual(serverEnvironment({ ...needed, ...others, TZ: undefined }, {}), needed)
  assert.deepEqual(listWithheld({ ...needed, ...others }).toSorted(), [
    'HTTP_PROXY',
    'PIP_INDEX_URL',
    'http_proxy',
  ])
})

test('serverEnvironment() adds what is declared, which takes precedence', () => {
  const environment = serverEnvironment({ HOME: '/home/me', PATH: '/bin' }, { PATH: '/mine', KEY: 'k' })
  assert.deepEqual(environment, { HOME: '/home/me', PATH: '/mine', KEY: 'k' })
})

test('serverEnvironment() omits a variable that holds a shell function', () => {
  assert.deepEqual(serverEnvironment({ TERM: '() { :; }; echo' }, {}), {})
})

test('serverEnvironment() knows the names that Windows needs, in any case', () => {
  const windows = { Path: 'C:\\', SystemRoot: 'C:\\Windows', APPDATA: 'C:\\a', OPENAI_API_KEY: 'k' }
  const { OPENAI_API_KEY: _, ...needed } = windows
  assert.deepEqual(serverEnvironment(windows, {}), needed)
})
