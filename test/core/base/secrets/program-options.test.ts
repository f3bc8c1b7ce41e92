import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactText, redactWords } from '../../../../src/core/base/secrets/redact.ts'

/** Command lines, each with the secret in braces; without braces, nothing in it is secret. */
const LINES = [
  'curl -uann:{pa55word9} http://h',
  'curl -su ann:{1234} http://h',
  'curl --proxy-user ann:{pw} http://h',
  'curl --user ann:{12345678} http://h',
  'curl --user=ann:{1234} http://h',
  'curl --proxy-user ann:{9999} http://h',
  'smbclient //h/s -U ann%{hunter2}',
  'smbclient --user=ann%{1234} //h/s',
  'smbclient -U ann //h/s',
  'snmpwalk -v2c -c {s3cret} h',
  'snmpget -v3 -u ann -A {authpass} -X {privpass} h',
  'docker run --user 1000:1000 web',
  'tar -p x1y2z3a9',
  'curl -k https://h',
  'curl -u ann http://h',
  '/usr/bin/mysql -uroot -p{Hunter2} db',
  'mysql -p db',
  'mysql.exe -p{SECRET} db',
  'docker exec db mysqldump -p{pw} db',
  'redis-cli -h h -p 6379 -a {hunter2pass}',
  'sshpass -p{SECRET} ssh -p 22 h',
  'sshpass -p {SECRET} ssh -p 22 h',
  'docker login -u ann -p {hunter}',
  'docker run -p 8080:80 web',
  'docker login; docker run -p 8080:80 web',
  'mongosh -u ann -p {hunter}',
  'openssl enc -k {SECRET} -in a',
  'openssl enc -pass {pass:a} -in a',
  'unzip -P {pw} a.zip',
  'http -a ann:{pw} GET h',
  'ldapsearch -x -w {pw} -b dc=x',
  'mkdir -p build2go',
  'mysql -uroot; mkdir -p build2go',
  'ssh -p 22 h',
  'grep -k x y',
  'server -p 8080',
  'server -p {a1b2c3d4}',
]

for (const line of LINES) {
  test(`the secret of an option is hidden, and nothing else: ${line}`, () => {
    const plain = line.replaceAll(/[{}]/g, '')
    const shown = line.replaceAll(/\{.*?\}/g, '[secret]')
    assert.equal(redactWords(plain.split(' ')).join(' '), shown)
    assert.deepEqual(redactWords(['sh', '-c', `cd x && ${plain} || true`]), [
      'sh',
      '-c',
      `cd x && ${shown} || true`,
    ])
    assert.equal(redactText(`ran ${plain} and then more`), `ran ${shown} and then more`)
  })
}

/** Scripts with quoted values, each with the secret in braces. */
const QUOTED = [
  `mysql -p{'a b'} db`,
  `mysql -p{"a b c"} db && mysql -p{'d e'} x`,
  `curl -u 'ann:{a b'} http://h`,
  `srv --token {'a b'} --verbose`,
  `cd x; TOKEN={"a b"} srv 'c d'`,
  `sshpass -p {'it is'} ssh h 'ls x'`,
  `sh -c "mysql -p{SECRET"} && echo "hi there"`,
  `echo 'a b' && mysql -p{SECRET} 'c d'`,
]

for (const script of QUOTED) {
  test(`a secret in quotes is hidden up to their end: ${script}`, () => {
    const plain = script.replaceAll(/[{}]/g, '')
    const shown = script.replaceAll(/\{.*?\}/g, '[secret]')
    assert.deepEqual(redactWords(['sh', '-c', plain]), ['sh', '-c', shown])
    assert.equal(redactText(`ran ${plain}`), `ran ${shown}`)
  })
}

const LAST = [
  'htpasswd -b f ann {PW}',
  'htpasswd -nb ann {PW}',
  'htpasswd -c -B -b -C 10 f ann {PW}',
  '/usr/bin/htpasswd -nbB ann {PW} | tee f',
  'htpasswd -nb ann {PW} && cat f',
  'htpasswd -c f ann',
  'htpasswd -c f ann; ls -b f x',
]

for (const line of LAST) {
  test(`the password at the end of htpasswd is hidden: ${line}`, () => {
    const plain = line.replaceAll(/[{}]/g, '')
    const shown = line.replaceAll(/\{.*?\}/g, '[secret]')
    assert.equal(redactWords(plain.split(' ')).join(' '), shown)
    assert.deepEqual(redactWords(['sh', '-c', plain]), ['sh', '-c', shown])
  })
}
