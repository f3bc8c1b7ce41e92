import { execFileSync } from 'node:child_process'
import { chmod, link, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { OUTSIDE } from './instruction-fixture.ts'
import { AGENTS, type InstructionTrick, makeRepository, OWN_FILE, WORK } from './instruction-tricks.ts'

const OUT = /AGENTS\.md: it is not read: it is a link that points outside its folder/
const NO_TEXT = /it is a link to something other than a Markdown or text file/

/** Tricks with the kind of file: links, special files, owners and modes. */
export const FILE_TRICKS: readonly InstructionTrick[] = [
  // links
  {
    name: 'absolute link out of the folder',
    play: (p) => symlink(p.at('out/secret.md'), p.at(AGENTS)),
    used: [],
    notices: [OUT],
  },
  {
    name: 'relative link out of the folder',
    play: (p) => symlink('../../out/secret.md', p.at(AGENTS)),
    used: [],
    notices: [OUT],
  },
  {
    name: 'link with more .. than there are folders',
    play: (p) => symlink(`${'../'.repeat(30)}etc/passwd`, p.at(AGENTS)),
    used: [],
    notices: [OUT],
  },
  {
    name: 'link to a link that leads out',
    async play(p) {
      await symlink('b.md', p.at(AGENTS))
      await symlink('c.md', p.at(`${WORK}/b.md`))
      await symlink(p.at('out/secret.md'), p.at(`${WORK}/c.md`))
    },
    used: [],
    notices: [OUT],
  },
  {
    name: 'link through a folder that is a link out',
    async play(p) {
      await symlink(p.at('out'), p.at(`${WORK}/docs`))
      await symlink('docs/secret.md', p.at(AGENTS))
    },
    used: [],
    notices: [OUT],
  },
  {
    name: 'link that leaves the folder and comes back',
    async play(p) {
      await p.write(`${WORK}/CLAUDE.md`, 'inside')
      await symlink('../work/CLAUDE.md', p.at(AGENTS))
    },
    used: [[AGENTS, 'inside']],
  },
  {
    name: 'link to a Markdown file inside',
    async play(p) {
      await p.write(`${WORK}/CLAUDE.md`, 'inside')
      await symlink('CLAUDE.md', p.at(AGENTS))
    },
    used: [[AGENTS, 'inside']],
  },
  {
    name: 'chain of links inside the repository',
    async play(p) {
      await makeRepository(p)
      await p.write(`${WORK}/docs/rules.md`, 'inside')
      await symlink('rules.md', p.at(`${WORK}/docs/link.md`))
      await p.folder(`${WORK}/sub`)
      await symlink('../docs/link.md', p.at(`${WORK}/sub/AGENTS.md`))
    },
    cwd: `${WORK}/sub`,
    used: [[`${WORK}/sub/AGENTS.md`, 'inside']],
  },
  {
    name: 'link to the parent folder outside of a repository',
    async play(p) {
      await p.write(`${WORK}/CLAUDE.md`)
      await p.folder(`${WORK}/sub`)
      await symlink('../CLAUDE.md', p.at(`${WORK}/sub/AGENTS.md`))
    },
    cwd: `${WORK}/sub`,
    used: [],
    notices: [OUT],
  },
  {
    name: 'link to config.toml',
    play: (p) => symlink(p.at('user/.crabtalk/config.toml'), p.at(AGENTS)),
    used: [],
    notices: [OWN_FILE],
  },
  {
    name: 'link to an agent’s prompt',
    play: (p) => symlink(p.at('user/.crabtalk/agents/crab.md'), p.at(AGENTS)),
    used: [],
    notices: [OWN_FILE],
  },
  {
    name: 'link to the environment of this process',
    play: (p) => symlink('/proc/self/environ', p.at(AGENTS)),
    used: [],
    notices: [/it is not read/],
  },
  {
    name: 'link to .env inside',
    async play(p) {
      await p.write(`${WORK}/.env`, OUTSIDE)
      await symlink('.env', p.at(AGENTS))
    },
    used: [],
    notices: [NO_TEXT],
  },
  {
    name: 'link to a file of .git',
    async play(p) {
      await p.write(`${WORK}/.git/description.md`, OUTSIDE)
      await symlink('.git/description.md', p.at(AGENTS))
    },
    used: [],
    notices: [NO_TEXT],
  },
  {
    name: 'link to nothing',
    play: (p) => symlink('none.md', p.at(AGENTS)),
    used: [],
    notices: [/it is a broken link/],
  },
  {
    name: 'link to itself',
    play: (p) => symlink('AGENTS.md', p.at(AGENTS)),
    used: [],
    notices: [/its links form a loop/],
  },
  {
    name: 'link to a folder',
    play: (p) => symlink('.', p.at(AGENTS)),
    used: [],
    notices: [/it is not read/],
  },
  // hard links
  {
    name: 'hard link to config.toml',
    play: (p) => link(p.at('user/.crabtalk/config.toml'), p.at(AGENTS)),
    used: [],
    notices: [OWN_FILE],
  },
  {
    name: 'link to a hard link to config.toml',
    async play(p) {
      await link(p.at('user/.crabtalk/config.toml'), p.at(`${WORK}/notes.md`))
      await symlink('notes.md', p.at(AGENTS))
    },
    used: [],
    notices: [OWN_FILE],
  },
  {
    name: 'hard link to a file of the project',
    async play(p) {
      await p.write(`${WORK}/CLAUDE.md`, 'inside')
      await link(p.at(`${WORK}/CLAUDE.md`), p.at(AGENTS))
    },
    used: [[AGENTS, 'inside']],
  },
  // other kinds of files
  {
    name: 'named pipe',
    play: async (p) => void execFileSync('mkfifo', [p.at(AGENTS)]),
    used: [],
    notices: [/it is a named pipe/],
  },
  {
    name: 'link to a named pipe',
    async play(p) {
      execFileSync('mkfifo', [p.at(`${WORK}/pipe.md`)])
      await symlink('pipe.md', p.at(AGENTS))
    },
    used: [],
    notices: [/it is a named pipe/],
  },
  { name: 'socket', play: (p) => bindSocket(p.at(AGENTS)), used: [], notices: [/it is a socket/] },
  {
    name: 'link to an endless device',
    play: (p) => symlink('/dev/zero', p.at(AGENTS)),
    used: [],
    notices: [OUT],
  },
  {
    name: 'the home’s own file is a link to an endless device',
    play: (p) => symlink('/dev/zero', p.at('user/.crabtalk/Crab.md')),
    used: [],
    notices: [/it is a device/],
  },
  { name: 'folder of that name', play: (p) => p.folder(AGENTS), used: [], notices: [/it is a folder/] },
  {
    name: 'Crab.md is a folder, AGENTS.md a file',
    async play(p) {
      await p.folder(`${WORK}/Crab.md`)
      await p.write(AGENTS)
    },
    used: [AGENTS],
    notices: [/Crab\.md: it is not read: it is a folder/],
  },
  // owners and modes
  {
    name: 'file of another user',
    async play(p) {
      await p.write(AGENTS, OUTSIDE)
      await p.giveAway(AGENTS)
    },
    used: [],
    notices: [/it belongs to another user/],
  },
  {
    name: 'file of another user in a sticky folder above',
    async play(p) {
      await p.folder('tmp', 0o1777)
      await p.folder('tmp/mine')
      await p.write('tmp/AGENTS.md', OUTSIDE)
      await p.giveAway('tmp/AGENTS.md')
    },
    cwd: 'tmp/mine',
    used: [],
  },
  {
    name: 'own file in a sticky folder',
    async play(p) {
      await p.folder('tmp', 0o1777)
      await p.write('tmp/AGENTS.md')
    },
    cwd: 'tmp',
    used: ['tmp/AGENTS.md'],
  },
  {
    name: 'folder that anybody may write',
    async play(p) {
      await p.folder('shared', 0o777)
      await p.write('shared/AGENTS.md')
    },
    cwd: 'shared',
    used: [],
    notices: [/every user of this machine can replace it/],
  },
  {
    name: 'file that anybody may write',
    async play(p) {
      await p.write(AGENTS)
      await chmod(p.at(AGENTS), 0o666)
    },
    used: [],
    notices: [/every user of this machine can write it/],
  },
  {
    name: 'file that the group may write',
    async play(p) {
      await p.write(AGENTS)
      await chmod(p.at(AGENTS), 0o664)
    },
    used: [AGENTS],
  },
]

/** Creates a socket that remains after its server has ended. */
async function bindSocket(path: string): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(`${path}.live`, resolve))
  await link(`${path}.live`, path)
  await new Promise((resolve) => server.close(resolve))
}
