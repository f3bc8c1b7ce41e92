// What npm does for `crabup pull` and `crabup pkg add`, without a registry: every name is a component of a few lines.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [verb, ...args] = process.argv.slice(2)
const spec = args[args.indexOf('--') + 1] ?? ''
const optionOf = (name) => args[args.indexOf(name) + 1]

if (verb === 'config') print('')
if (verb === 'view') print(JSON.stringify({ ...manifestOf(spec), _npmUser: 'crabtalk <hello@example.org>' }))
if (verb === 'pack') pack()
if (verb === 'install') install()

function print(text) {
  process.stdout.write(`${text}\n`)
}

function manifestOf(wanted) {
  const [, name, version = '0.1.0'] = /^(@?[^@]+)(?:@(.*))?$/.exec(wanted)
  return { name, version, description: 'A component', bin: 'main.js' }
}

function pack() {
  const folder = join(mkdtempSync(join(optionOf('--pack-destination'), 'pack-')), 'package')
  mkdirSync(folder)
  if (spec.startsWith('/')) cpSync(spec, folder, { recursive: true })
  else {
    const files = {
      'package.json': JSON.stringify(manifestOf(spec)),
      'main.js': '',
      'crabtalk.toml': 'name = "review-kit"\nversion = "1.0.0"\nskills = ["review"]\n',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    mkdirSync(join(folder, 'review'))
    writeFileSync(join(folder, 'review/SKILL.md'), '---\nname: review\ndescription: Reviews a diff\n---\n')
  }
  execFileSync('tar', [
    '-czf',
    join(optionOf('--pack-destination'), 'packed.tgz'),
    '-C',
    join(folder, '..'),
    'package',
  ])
  print(JSON.stringify([{ filename: 'packed.tgz' }]))
}

function install() {
  const modules = join(optionOf('--prefix'), 'lib/node_modules')
  mkdirSync(modules, { recursive: true })
  execFileSync('tar', ['-xzf', spec, '-C', modules])
  const { name } = JSON.parse(readFileSync(join(modules, 'package/package.json'), 'utf8'))
  execFileSync('mv', [join(modules, 'package'), join(modules, name)])
}
