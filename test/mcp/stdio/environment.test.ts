import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverEnvironment } from '../../../src/mcp/stdio/environment.ts'

test('serverEnvironment() passes on what a program needs to run, and nothing else', () => {
  const needed = {
    HOME: '/home/me',
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
  }
  const others = {
    ANTHROPIC_API_KEY: 'sk-1',
    CRABTALK_HOME: '/h',
    HTTPS_PROXY: 'p',
    LCD: '1',
    MY_PATH: '1',
    NODE_OPTIONS: '--inspect',
    OPENAI_API_KEY: 'sk-2',
    PWD: '/p',
    XDG: '1',
  }
  assert.deepEqual(serverEnvironment({ ...needed, ...others, TZ: undefined }, {}), needed)
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
