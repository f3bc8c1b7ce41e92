'use strict'
// What npm runs after installing, where it may: puts the program itself in place of the script that starts it, which saves
// every command the start of a Node. Whatever goes wrong, the script stays, and works.
const { linkSync, renameSync, rmSync, symlinkSync } = require('node:fs')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')
const { findProgram } = require('./platform.cjs')

// Others start what npm calls a binary by `node FILE`, and Windows by a script of npm's own.
const isNpm = /^npm\//.test(process.env['npm_config_user_agent'] || '')
if (isNpm && process.platform !== 'win32') replace(findProgram().program)

function replace(program) {
  if (program === undefined || spawnSync(program, ['--version']).status !== 0) return
  const [crabtalk, crabup] = ['crabtalk', 'crabup'].map((name) => join(__dirname, name))
  const made = join(__dirname, `.crabtalk.${process.pid}`)
  try {
    linkSync(program, made)
    renameSync(made, crabtalk)
    symlinkSync('crabtalk', made)
    renameSync(made, crabup)
  } catch {
    rmSync(made, { force: true })
  }
}
