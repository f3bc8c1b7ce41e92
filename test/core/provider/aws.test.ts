import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { awsRegion, bedrockAddress, findAwsAccess } from '../../../src/core/provider/aws.ts'

const CONFIG = `# mine
[default]
region = eu-central-1

[profile dev]
region=ap-southeast-2 # where the others are
s3 =
  region = nowhere
[profile  login]
sso_session = work
[sso-session work]
sso_region = us-east-1
`
const KEYS = `[default]
aws_access_key_id = AKIDEFAULT
aws_secret_access_key = secret-default
[dev]
aws_access_key_id=AKIDDEV
aws_secret_access_key=sec=ret/dev+
aws_session_token = token-dev
`
const ENV = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'secret-env ' }

test('findAwsAccess() takes keys and region from the environment without reading a file', () => {
  const credentials = { accessKeyId: 'AKIDENV', secretAccessKey: 'secret-env' }
  const access = { region: 'eu-west-1', credentials, from: 'AWS_ACCESS_KEY_ID' }
  assert.deepEqual(findAwsAccess({ ...ENV, AWS_REGION: 'eu-west-1' }, { hasKey: false }), access)
  assert.deepEqual(findAwsAccess({ ...ENV, AWS_DEFAULT_REGION: 'eu-west-1' }, { hasKey: false }), access)
  const token = { ...ENV, AWS_REGION: 'eu-west-1', AWS_SESSION_TOKEN: 'token' }
  assert.equal(findAwsAccess(token, { hasKey: false }).credentials?.sessionToken, 'token')
})

test('findAwsAccess() reads a profile: the named one, that of AWS_PROFILE, the default', async () => {
  await using home = await awsHome()
  const dev = {
    region: 'ap-southeast-2',
    credentials: { accessKeyId: 'AKIDDEV', secretAccessKey: 'sec=ret/dev+', sessionToken: 'token-dev' },
    from: 'profile dev of ~/.aws',
  }
  assert.deepEqual(findAwsAccess({ ...ENV, HOME: home.path }, { profile: 'dev', hasKey: false }), dev)
  assert.deepEqual(findAwsAccess({ HOME: home.path, AWS_PROFILE: 'dev' }, { hasKey: false }), dev)
  const usual = findAwsAccess({ HOME: home.path }, { hasKey: false })
  assert.deepEqual([usual.region, usual.credentials?.accessKeyId], ['eu-central-1', 'AKIDEFAULT'])
  assert.equal(
    findAwsAccess({ HOME: home.path, AWS_REGION: 'eu-west-3' }, { hasKey: false }).region,
    'eu-west-3',
  )
  assert.equal(findAwsAccess({ HOME: home.path }, { region: 'sa-east-1', hasKey: false }).region, 'sa-east-1')
  const elsewhere = { AWS_SHARED_CREDENTIALS_FILE: join(home.path, '.aws/credentials'), HOME: '/nonexistent' }
  assert.equal(findAwsAccess(elsewhere, { hasKey: false }).credentials?.accessKeyId, 'AKIDEFAULT')
})

test('findAwsAccess() prefers the environment’s keys, with the region of the profile', async () => {
  await using home = await awsHome()
  const access = findAwsAccess({ ...ENV, HOME: home.path, AWS_PROFILE: 'dev' }, { hasKey: false })
  assert.deepEqual([access.region, access.credentials?.accessKeyId], ['ap-southeast-2', 'AKIDENV'])
})

test('findAwsAccess() needs only a region besides a Bedrock API key', async () => {
  await using home = await awsHome()
  assert.deepEqual(findAwsAccess({ HOME: home.path }, { hasKey: true }), { region: 'eu-central-1' })
  assert.deepEqual(findAwsAccess({ HOME: '/nonexistent' }, { hasKey: true }), { region: 'us-east-1' })
})

test('findAwsAccess() says what to do about a profile without keys', async () => {
  await using home = await awsHome()
  const env = { HOME: home.path }
  assert.throws(() => findAwsAccess(env, { profile: 'login', hasKey: false }), {
    kind: 'credentials',
    message: 'Cannot use AWS profile "login": it has no keys, but sso_session',
    hint: /^eval "\$\(aws configure export-credentials --profile login --format env\)"/,
  })
  assert.throws(() => findAwsAccess({ ...env, AWS_PROFILE: 'gone' }, { hasKey: false }), { kind: 'config' })
  assert.deepEqual(findAwsAccess({ HOME: '/nonexistent' }, { hasKey: false }), { region: 'us-east-1' })
})

test('awsRegion() reads setting, environment and profile, and accepts a missing profile', async () => {
  await using home = await awsHome()
  const env = { HOME: home.path, AWS_PROFILE: 'dev' }
  assert.equal(awsRegion({ ...env, AWS_REGION: 'eu-west-1' }, { region: 'sa-east-1' }), 'sa-east-1')
  assert.equal(awsRegion({ ...env, AWS_REGION: 'eu-west-1' }, {}), 'eu-west-1')
  assert.equal(awsRegion(env, {}), 'ap-southeast-2')
  assert.equal(awsRegion(env, { profile: 'default' }), 'eu-central-1')
  assert.equal(awsRegion(env, { profile: 'gone' }), 'us-east-1')
})

test('findAwsAccess() rejects an invalid region, which would be a part of the address', () => {
  for (const region of ['elsewhere.test/#', 'eu-west-1.', 'EU (Ireland)'])
    assert.throws(() => findAwsAccess({ AWS_REGION: region }, { hasKey: true }), {
      kind: 'config',
      message: `Cannot use AWS region "${region}": a region looks like eu-west-1`,
    })
})

test('bedrockAddress() knows the geography of a region', () => {
  assert.equal(bedrockAddress('eu-west-1'), 'https://bedrock-runtime.eu-west-1.amazonaws.com')
  assert.equal(bedrockAddress('eusc-de-east-1'), 'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu')
  assert.equal(bedrockAddress('cn-north-1'), 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn')
})

async function awsHome() {
  const home = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(home.path, '.aws'))
  await writeFile(join(home.path, '.aws/config'), CONFIG)
  await writeFile(join(home.path, '.aws/credentials'), KEYS)
  return home
}
