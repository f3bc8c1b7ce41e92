import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeTree } from './registry.ts'

/** Git repositories over HTTP, served by git itself. */
export interface GitServer extends AsyncDisposable {
  /**
   * Commits files as a repository of that name and returns its address; `change` may modify its work tree
   * further.
   */
  publish(
    name: string,
    files: Readonly<Record<string, string>>,
    change?: (folder: string) => Promise<void>,
  ): Promise<string>
}

/** Opens a server on a free port. */
export async function openGitServer(): Promise<GitServer> {
  const root = await mkdtempDisposable(join(tmpdir(), 'crab-git-'))
  const server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root.path,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'],
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    })
    request.pipe(backend.stdin)
    backend.stdin.on('error', () => {}) // git may exit without reading the request
    const pieces: Buffer[] = []
    backend.stdout.on('data', (piece: Buffer) => pieces.push(piece))
    backend.once('close', () => {
      const all = Buffer.concat(pieces)
      const end = all.indexOf('\r\n\r\n')
      const headers = all.subarray(0, end).toString().split('\r\n')
      for (const line of headers) {
        const [key = '', value = ''] = line.split(': ')
        if (key === 'Status') response.statusCode = Number.parseInt(value, 10)
        else response.setHeader(key, value)
      }
      response.end(all.subarray(end + 4))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    async publish(name, files, change) {
      const folder = join(root.path, name)
      await writeTree(folder, files)
      await git(folder, 'init', '--quiet', '--initial-branch=main')
      await change?.(folder)
      await git(folder, 'add', '--all')
      await git(
        folder,
        '-c',
        'user.name=Ada',
        '-c',
        'user.email=ada@example.com',
        'commit',
        '--quiet',
        '-m',
        'all',
      )
      return `http://127.0.0.1:${port}/${name}/.git`
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await root.remove()
    },
  }
}

async function git(folder: string, ...args: string[]): Promise<void> {
  await promisify(execFile)('git', ['-C', folder, ...args])
}
