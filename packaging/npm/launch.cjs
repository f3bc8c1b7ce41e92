'use strict'
const { spawn } = require('node:child_process')
const { basename } = require('node:path')
const { findProgram, startProblem } = require('./platform.cjs')

const UNAVAILABLE = 69

/** Runs the program under the name this script was started by; where Node can, in its own place. */
module.exports = function launch() {
  const { program, problem = startProblem(program) } = findProgram()
  if (problem !== undefined) return fail(problem)
  const name = /^crabup/i.test(basename(process.argv[1] || '')) ? 'crabup' : 'crabtalk'
  const args = process.argv.slice(2)
  if (process.platform === 'win32') return start(program, name === 'crabup' ? ['--as-crabup', ...args] : args)
  if (typeof process.execve === 'function') {
    process.emitWarning = () => {} // that it is experimental is no news for who talks with agents
    process.execve(program, [name, ...args])
  }
  start(program, args, name)
}

function start(program, args, argv0) {
  const child = spawn(program, args, { stdio: 'inherit', ...(argv0 && { argv0 }) })
  const survive = () => {} // the terminal sends Ctrl-C to the child too; its answer decides
  const forward = (signal) => child.kill(signal)
  process.on('SIGINT', survive).on('SIGTERM', forward).on('SIGHUP', forward)
  child.on('error', (error) => fail(`it does not start: ${error.message}`))
  child.on('exit', (code, signal) => {
    process.off('SIGINT', survive).off('SIGTERM', forward).off('SIGHUP', forward)
    if (signal !== null) return process.kill(process.pid, signal)
    process.exitCode = code
  })
}

function fail(problem) {
  process.stderr.write(`crabtalk: error: Cannot start crabtalk: ${problem}\n`)
  process.exitCode = UNAVAILABLE
}
