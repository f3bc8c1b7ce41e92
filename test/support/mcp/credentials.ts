/**
 * Invented values with the shape of credentials. They are assembled here so that secret scanners do not
 * report this repository.
 */
export const CREDENTIALS: Readonly<Record<string, string>> = {
  'an OpenAI key': `sk-${'aB3'.repeat(16)}`,
  'an OpenAI project key': `sk-${'proj'}-${'aB3_'.repeat(12)}`,
  'an Anthropic key': `sk-${'ant'}-api03-${'aB3-'.repeat(12)}`,
  'a Stripe key': `sk_${'live'}_${'a1B2'.repeat(6)}`,
  'a GitHub token': `ghp_${'a1B2'.repeat(9)}`,
  'a fine-grained GitHub token': `github_${'pat'}_${'a1B2'.repeat(15)}`,
  'a GitLab token': `glpat-${'a1B2-'.repeat(4)}`,
  'a Slack token': `xoxb-${'123456789012'}-${'aBcD'.repeat(6)}`,
  'an AWS key': `AKIA${'IOSFODNN7EXAMPL2'}`,
  'a Google key': `AIza${'a1B2_'.repeat(7)}`,
  'a Google token': `ya29.${'a1B2_'.repeat(10)}`,
  'an npm token': `npm_${'a1B2'.repeat(9)}`,
  'a PyPI token': `pypi-${'AgEIcHlwaS5vcmc'}${'a1B2'.repeat(15)}`,
  'a Hugging Face token': `hf_${'aBcD'.repeat(9)}`,
  'a SendGrid key': `SG.${'a1B2'.repeat(5)}.${'a1B2'.repeat(10)}`,
  'a Telegram token': `123456789:AA${'a1B'.repeat(11)}`,
  'a JSON web token': `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJ${'zdWIiOiIxMjM0NTY3ODkwIn0'}.${'dozjgNryP4J3jVmN'}HSn_-w`,
  'a private key': `-----BEGIN ${'RSA PRIVATE'} KEY-----\nMIIEowIBAAKCAQEA`,
  'an OpenSSH key': `-----BEGIN ${'OPENSSH PRIVATE'} KEY-----\nb3BlbnNzaC1rZXk`,
  'a PGP key': `-----BEGIN ${'PGP PRIVATE'} KEY BLOCK-----\n`,
  'a bearer header': `Bearer ${'a1B2c3D4'.repeat(4)}`,
  'a basic header': `Authorization: Basic ${Buffer.from('user:hunter2 and more').toString('base64')}`,
  'an address with a password': `postgres://app:${'hunter2'}@db.internal:5432/app`,
  'an address with a token': `https://${'a1B2'.repeat(10)}@git.example.com/owner/repo.git`,
}
