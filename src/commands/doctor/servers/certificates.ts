import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { TLSSocket } from 'node:tls'
import { type CheckResult, problem, warning } from '../../../cli/check.ts'

/** The facts that the answer to one request gives about a server. Times are milliseconds since 1970. */
export interface ServerProbe {
  host: string
  /** The last moment of its certificate; undefined when that is not known, as without TLS. */
  validTo: number | undefined
  /** The code of what is wrong with its certificate; undefined when nothing is. */
  certificateError: string | undefined
  /** Its clock; undefined when it does not say. */
  date: number | undefined
}

/**
 * Requests `/` of a server without credentials; undefined when it cannot be reached or does not answer in time. The
 * certificate is not verified, so that nothing of the address but its host may be sent: paths and queries may have keys.
 */
export async function probeServer(address: string, signal: AbortSignal): Promise<ServerProbe | undefined> {
  const url = new URL(address)
  const isSecure = url.protocol === 'https:'
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)])
  return await new Promise((resolve) => {
    const options = { method: 'HEAD', signal: limit }
    const request = isSecure
      ? requestHttps(url.origin, { ...options, rejectUnauthorized: false, agent: false }) // a resumed session has no certificate
      : requestHttp(url.origin, options)
    request.once('error', () => resolve(undefined)) // the start of the server says why
    request.once('response', (response) => {
      response.resume()
      const { socket, headers } = response
      const tls = socket instanceof TLSSocket ? socket : undefined
      const validTo = tls && toTime(tls.getPeerCertificate().valid_to)
      resolve({
        ...{ host: url.host, validTo, date: toTime(headers.date) },
        certificateError: tls && !tls.authorized ? String(tls.authorizationError) : undefined,
      })
      socket.destroy()
    })
    request.end()
  })
}

/** Reports a certificate that is not valid, or soon will not be. */
export function judgeCertificate(
  { host, validTo, certificateError }: Pick<ServerProbe, 'host' | 'validTo' | 'certificateError'>,
  now: number,
): CheckResult[] {
  const day = validTo === undefined ? undefined : new Date(validTo).toISOString().slice(0, 10)
  const found = certificateError === undefined ? [] : [describeError({ host, certificateError, day })]
  if (validTo === undefined || validTo <= now) return found
  const days = Math.floor((validTo - now) / DAY_MS)
  if (days >= SOON_DAYS) return found
  const soon = `the certificate of ${host} expires on ${day}, in ${days} days`
  return [...found, warning(soon, 'its operator has to renew it')]
}

function describeError({
  host,
  certificateError: code,
  day,
}: {
  host: string
  certificateError: string
  day: string | undefined
}): CheckResult {
  const what = `the certificate of ${host}`
  if (code === 'CERT_HAS_EXPIRED')
    return problem(
      `${what} ${day === undefined ? 'has expired' : `expired on ${day}`}`,
      'its operator has to renew it; check your clock, too',
    )
  if (code === 'CERT_NOT_YET_VALID')
    return problem(`${what} is not valid yet`, 'check the clock of this machine')
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return problem(`${what} is for another name`, 'check the address of the server')
  const isSelf = code === 'DEPTH_ZERO_SELF_SIGNED_CERT'
  const why = isSelf ? 'is self-signed' : AUTHORITY.test(code) ? 'is signed by an unknown authority' : code
  const advice = 'if you trust it, name a file with its certificate in NODE_EXTRA_CA_CERTS'
  return problem(`${what} ${why}`, isSelf || AUTHORITY.test(code) ? advice : 'its operator has to correct it')
}

/** Reports a clock that differs from that of a server by more than five minutes. */
export function judgeClock({ host, date }: Pick<ServerProbe, 'host' | 'date'>, now: number): CheckResult[] {
  if (date === undefined || Math.abs(now - date) <= CLOCK_MS) return []
  const minutes = Math.round(Math.abs(now - date) / 60_000)
  const side = now > date ? 'ahead of' : 'behind'
  return [
    warning(
      `the clock of this machine is ${minutes} minutes ${side} that of ${host}`,
      'set it: logins, tokens and certificates depend on the time',
    ),
  ]
}

function toTime(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? '')
  return Number.isFinite(time) ? time : undefined
}

const AUTHORITY = /SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_UNTRUSTED/
const DAY_MS = 86_400_000
const SOON_DAYS = 14
const CLOCK_MS = 5 * 60_000
const PROBE_MS = 5_000
