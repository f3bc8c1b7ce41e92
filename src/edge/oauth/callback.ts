import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { CrabError } from '../../core/base/errors.ts'
import { getErrorCode } from '../../core/base/system-error.ts'

/** A page on this machine to which the browser returns after a login. */
export interface LoginCallback extends AsyncDisposable {
  redirectUrl: string
  /** Resolves with the parameters of the first answer. */
  answer: Promise<URLSearchParams>
}

/** The login that a callback is for. */
export interface CallbackOptions {
  /** 0 is any free port. */
  port: number
  /** The state that its answer has. */
  state: string
}

/**
 * Listens on 127.0.0.1 for one answer of the browser. Later requests get 404, as does an answer with another state:
 * it does not end the login.
 *
 * Throws `conflict` when the port is taken.
 */
export async function openCallback({ port, state }: CallbackOptions): Promise<LoginCallback> {
  const { promise: answer, resolve } = Promise.withResolvers<URLSearchParams>()
  let isAnswered = false
  const server = createServer((request, response) => {
    const parameters = readAnswer(request, server.address() as BoundAddress)
    if (isAnswered || parameters?.get('state') !== state)
      return sendPage(response, 404, 'There is nothing here.')
    isAnswered = true
    sendPage(response, 200, 'crabtalk has the answer. You can close this page and go back to the terminal.')
    resolve(parameters)
  })
  const { promise: listening, resolve: done, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ port, host: LOOPBACK, exclusive: true }, done)
  try {
    await listening
  } catch (reason) {
    if (getErrorCode(reason) !== 'EADDRINUSE') throw reason
    throw new CrabError('conflict', `Cannot wait for the browser: port ${port} is taken`, {
      cause: reason,
      hint: 'give another one with --port',
    })
  }
  return {
    redirectUrl: `http://${LOOPBACK}:${(server.address() as BoundAddress).port}${PATH}`,
    answer,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolveClosed) => server.close(resolveClosed))
      server.closeIdleConnections() // the page of an answer may still be on its way
      await Promise.race([closed, newTimeout(CLOSE_MS)])
      server.closeAllConnections()
      await closed
    },
  }
}

interface BoundAddress {
  port: number
}

/** Reads the parameters of a request for the page, by the address that it was given; undefined for any other. */
function readAnswer({ method, url = '', headers }: IncomingMessage, { port }: BoundAddress) {
  if (method !== 'GET' || headers.host !== `${LOOPBACK}:${port}`) return undefined
  const { pathname, searchParams } = URL.parse(url, `http://${LOOPBACK}`) ?? {}
  const isAnswer = pathname === PATH && (searchParams?.has('code') || searchParams?.has('error'))
  return isAnswer ? searchParams : undefined
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, HEADERS)
  response.end(`<!doctype html><meta charset="utf-8"><title>crabtalk</title><p>${text}</p>\n`)
}

function newTimeout(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

const LOOPBACK = '127.0.0.1'
const PATH = '/callback'
const CLOSE_MS = 500
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
}
