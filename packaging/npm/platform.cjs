'use strict'
// Where the program of this machine is. Any Node from 14 on runs this file and its neighbours.
const { spawnSync } = require('node:child_process')
const { existsSync, readFileSync } = require('node:fs')

const SYSTEMS = { linux: 'linux', darwin: 'darwin', win32: 'win' }
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win-x64']

/** The program, or what keeps it from running here, in one line. */
function findProgram() {
  const platform = `${SYSTEMS[process.platform] || process.platform}-${process.arch}`
  const file = process.platform === 'win32' ? 'crabtalk.exe' : 'crabtalk'
  try {
    return { program: require.resolve(`crabtalk-${platform}/bin/${file}`) }
  } catch {
    return { problem: whyMissing(platform) }
  }
}

function whyMissing(platform) {
  if (!PLATFORMS.includes(platform)) return `there is no crabtalk for ${platform}`
  if (process.platform === 'linux' && !isGlibc())
    return 'crabtalk needs glibc, which this system does not have'
  return `the package crabtalk-${platform} is missing: install crabtalk again, without --omit=optional`
}

function isGlibc() {
  const { glibcVersionRuntime } = process.report.getReport().header
  return glibcVersionRuntime !== undefined
}

/** Why the program cannot start, in one line; undefined when it can, which is looked at only where it is in doubt. */
function startProblem(program) {
  if (knowsLibatomic()) return undefined
  const { status, stderr, error } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  if (status === 0) return undefined
  const said = error ? error.message : stderr.trim().split('\n')[0]
  if (!said.includes('libatomic')) return `it does not start: ${said}`
  return existsSync('/usr/bin/dnf')
    ? 'it needs libatomic: dnf install libatomic'
    : 'it needs libatomic1: apt install libatomic1'
}

/** Small images leave it out. Reading the loader's list costs nothing beside a start. */
function knowsLibatomic() {
  if (process.platform !== 'linux') return true
  try {
    return readFileSync('/etc/ld.so.cache').includes('libatomic.so.1')
  } catch {
    return false
  }
}

module.exports = { findProgram, startProblem }
