/** Describes a common schedule in plain words; returns any other one as written. */
export function describeSchedule(text: string): string {
  const parts = text.trim().split(/\s+/)
  const fields = parts.length === 5 ? ['0', ...parts] : parts
  if (fields.length !== 6) return text
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  const days = describeDays(day, month, weekday)
  if (days === undefined) return text
  const time = describeTime(hour, minute, second)
  const words = time ? `${time}, ${days || 'every day'}` : describeInterval(hour, minute, second)
  if (words === undefined) return text
  return time || days === '' ? words : `${words}, ${days}`
}

/** Returns `at 09:00` for a single time of day. */
function describeTime(...fields: readonly string[]): string | undefined {
  if (!fields.every((field) => /^\d{1,2}$/.test(field))) return undefined
  const [hour = '', minute = '', second = ''] = fields.map((field) => field.padStart(2, '0'))
  return `at ${hour}:${minute}${second === '00' ? '' : `:${second}`}`
}

/** Returns `every 5 minutes` or similar when all smaller units are 0. */
function describeInterval(hour: string, minute: string, second: string): string | undefined {
  const units = [
    { name: 'second', field: second, smaller: [], larger: [minute, hour] },
    { name: 'minute', field: minute, smaller: [second], larger: [hour] },
    { name: 'hour', field: hour, smaller: [second, minute], larger: [] },
  ]
  for (const { name, field, smaller, larger } of units) {
    const [, step = '1'] = /^\*(?:\/(\d+))?$/.exec(field) ?? []
    const isOne = field === '*' || field.startsWith('*/')
    if (!isOne || smaller.some((one) => one !== '0') || larger.some((one) => one !== '*')) continue
    const size = name === 'hour' ? 24 : 60
    // uneven: the last step of an hour or a day would be shorter
    if (size % Number(step) !== 0) return undefined
    return Number(step) === 1 ? `every ${name}` : `every ${Number(step)} ${name}s`
  }
  return undefined
}

/** Returns an empty string for every day, and undefined for days without a short description. */
function describeDays(day: string, month: string, weekday: string): string | undefined {
  if (month !== '*') return undefined
  if (day === '*' && weekday === '*') return ''
  if (weekday === '*' && /^\d{1,2}$/.test(day)) return `on day ${Number(day)} of the month`
  if (weekday === '*' && day === 'L') return 'on the last day of the month'
  if (day !== '*') return undefined
  const names = weekday.toUpperCase()
  if (names === 'MON-FRI' || names === '1-5') return 'Monday to Friday'
  const named = names.split(',').map((one) => WEEKDAYS[WEEKDAY_NAMES.indexOf(one)] ?? WEEKDAYS[Number(one)])
  return named.every((one) => one !== undefined) ? `on ${named.join(', ')}` : undefined
}

const WEEKDAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
